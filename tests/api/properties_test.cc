// SPDX-License-Identifier: MIT
// hipFileDriverGetProperties and the setters of properties (specification 7.2 and 12.1).
#include <cstring>

#include "api_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

hipFileDriverProps_t properties() {
  hipFileDriverProps_t props;
  std::memset(&props, 0xee, sizeof props);
  EXPECT_CODE(hipFileSuccess, hipFileDriverGetProperties(&props));
  return props;
}

bool has(unsigned flags, int bit) { return (flags >> bit & 1u) != 0; }

class PropertiesTest : public ApiTest {
 protected:
  void TearDown() override {
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());  // takes what was staged
    ApiTest::TearDown();
  }
};

TEST_F(PropertiesTest, NullIsInvalid) {
  EXPECT_CODE(hipFileInvalidValue, hipFileDriverGetProperties(nullptr));
}

TEST_F(PropertiesTest, WorkWhileClosedAndOpenNothing) {
  const hipFileDriverProps_t props = properties();
  EXPECT_EQ(0, hipFileUseCount());
  EXPECT_EQ(4u, props.nvfs.poll_thresh_size);
  EXPECT_EQ(16384u, props.nvfs.max_direct_io_size);
  EXPECT_EQ(262144u, props.max_device_cache_size);
  EXPECT_EQ(65536u, props.per_buffer_cache_size);
  EXPECT_EQ(33554432u, props.max_device_pinned_mem_size);
  EXPECT_EQ(128u, props.max_batch_io_count);
  EXPECT_EQ(0u, props.max_batch_io_timeout_msecs);
}

TEST_F(PropertiesTest, FlagsSayWhatIsThere) {
  const hipFileDriverProps_t props = properties();
  EXPECT_TRUE(has(props.nvfs.driver_control_flags, hipFileAllowCompatMode));
  EXPECT_FALSE(has(props.nvfs.driver_control_flags, hipFileUsePollMode));
  EXPECT_TRUE(has(props.feature_flags, hipFileBatchIOSupported));
  EXPECT_TRUE(has(props.feature_flags, hipFileStreamsSupported));
  EXPECT_TRUE(has(props.feature_flags, hipFileParallelIOSupported));
  EXPECT_FALSE(has(props.feature_flags, hipFileDynRoutingSupported));
}

TEST_F(PropertiesTest, NVMeP2PFollowsTheFastpath) {
  if (is_on_nvidia()) GTEST_SKIP() << "the runtime has no hipAmdFileRead";
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, false));
  EXPECT_TRUE(has(properties().nvfs.driver_status_flags, hipFileNVMeP2PSupported));
  EXPECT_TRUE(has(properties().nvfs.driver_status_flags, hipFileNVMeSupported));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, true));
  EXPECT_EQ(0u, properties().nvfs.driver_status_flags);
}

TEST_F(PropertiesTest, FlagsFollowTheParameters) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, false));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamExecutionParallelIO, false));
  EXPECT_CODE(hipFileSuccess,
              hipFileSetParameterBool(hipFileParamPropertiesAllowCompatMode, false));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamPropertiesIOBatchsize, 7));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamPropertiesBatchIOTimeoutMs, 9));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  const hipFileDriverProps_t props = properties();
  EXPECT_FALSE(has(props.feature_flags, hipFileParallelIOSupported));
  EXPECT_FALSE(has(props.nvfs.driver_control_flags, hipFileAllowCompatMode));
  EXPECT_EQ(7u, props.max_batch_io_count);
  EXPECT_EQ(9u, props.max_batch_io_timeout_msecs);
}

TEST_F(PropertiesTest, BatchesAreAsLargeAsThePropertySaysWhileClosedToo) {
  for (const size_t limit : {7, 300}) {
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamPropertiesIOBatchsize, limit));
    EXPECT_EQ(limit, properties().max_batch_io_count);
    hipFileBatchHandle_t batch = nullptr;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, static_cast<unsigned>(limit)));
    hipFileBatchIODestroy(batch);
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSetUp(&batch, static_cast<unsigned>(limit) + 1));
  }
}

TEST_F(PropertiesTest, SettersWorkWhileClosedAndHoldFromOpenToClose) {
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetPollMode(true, 4096));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxDirectIOSize(8192));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxCacheSize(16384));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxPinnedMemSize(32768));
  EXPECT_EQ(0, hipFileUseCount());
  for (int round = 0; round < 2; ++round) {
    const hipFileDriverProps_t props = properties();
    EXPECT_TRUE(has(props.nvfs.driver_control_flags, hipFileUsePollMode));
    EXPECT_EQ(4096u, props.nvfs.poll_thresh_size);
    EXPECT_EQ(8192u, props.nvfs.max_direct_io_size);
    EXPECT_EQ(16384u, props.max_device_cache_size);
    EXPECT_EQ(32768u, props.max_device_pinned_mem_size);
    if (round == 0) EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  }
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  const hipFileDriverProps_t props = properties();
  EXPECT_FALSE(has(props.nvfs.driver_control_flags, hipFileUsePollMode));
  EXPECT_EQ(4u, props.nvfs.poll_thresh_size);
  EXPECT_EQ(262144u, props.max_device_cache_size);
}

TEST_F(PropertiesTest, SettersWriteTheParameters) {
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetPollMode(true, 64));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxDirectIOSize(128));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxCacheSize(16384));
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxPinnedMemSize(32768));
  const auto value = [](hipFileSizeTConfigParameter_t param) {
    size_t number = 0;
    EXPECT_CODE(hipFileSuccess, hipFileGetParameterSizeT(param, &number));
    return number;
  };
  bool polls = false;
  EXPECT_CODE(hipFileSuccess, hipFileGetParameterBool(hipFileParamPropertiesUsePollMode, &polls));
  EXPECT_TRUE(polls);
  EXPECT_EQ(64u, value(hipFileParamPollthresholdSizeKB));
  EXPECT_EQ(128u, value(hipFileParamPropertiesMaxDirectIOSizeKB));
  EXPECT_EQ(16384u, value(hipFileParamPropertiesMaxDeviceCacheSizeKB));
  EXPECT_EQ(32768u, value(hipFileParamPropertiesMaxDevicePinnedMemSizeKB));
}

TEST_F(PropertiesTest, LimitsThatDoNotFitAreUnsupported) {
  EXPECT_CODE(hipFileDriverUnsupportedLimit, hipFileDriverSetPollMode(true, 3));
  for (const size_t size : {size_t{0}, size_t{63}, size_t{100}, SIZE_MAX}) {
    EXPECT_CODE(hipFileDriverUnsupportedLimit, hipFileDriverSetMaxDirectIOSize(size));
  }
  for (const size_t size : {size_t{0}, size_t{3}, size_t{6}, SIZE_MAX}) {
    EXPECT_CODE(hipFileDriverUnsupportedLimit, hipFileDriverSetMaxCacheSize(size));
    EXPECT_CODE(hipFileDriverUnsupportedLimit, hipFileDriverSetMaxPinnedMemSize(size));
  }
  EXPECT_FALSE(has(properties().nvfs.driver_control_flags, hipFileUsePollMode))
      << "a call that fails stages nothing";
}

TEST_F(PropertiesTest, SettersChangeNothingWhileOpen) {
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileDriverSetPollMode(true, 4096));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileDriverSetMaxDirectIOSize(128));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileDriverSetMaxCacheSize(16384));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileDriverSetMaxPinnedMemSize(32768));
  EXPECT_EQ(16384u, properties().nvfs.max_direct_io_size);
}

}  // namespace
}  // namespace hipfile::test
