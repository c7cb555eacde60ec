// SPDX-License-Identifier: MIT
//
// Values in memory that streams wait for: every condition in both widths, with and without a mask.

#include <string>

#include "hip_test.h"

namespace {

using namespace hip_test;

TEST(HipWaitValue, AttributeSaysThatItWorks) {
  int can = 0;
  EXPECT_HIP(hipSuccess, hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
  EXPECT_EQ(can, 1);
}

TEST(HipWaitValue, StreamStandsUntilTheHostWrites) {
  const TestStream stream;
  const PinnedBuffer memory(64);
  auto* value = reinterpret_cast<uint32_t*>(memory.data());
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, hipStreamWaitValue32(stream.get(), value, 3, hipStreamWaitValueGte));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), &set_flag, &is_done));
  __atomic_store_n(value, 2U, __ATOMIC_RELEASE);
  let_others_run();
  EXPECT_FALSE(is_done.load());
  __atomic_store_n(value, 3U, __ATOMIC_RELEASE);
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_TRUE(is_done.load());
}

TEST(HipWaitValue, StreamsHandOverThroughDeviceMemory) {
  const TestStream waiting;
  const TestStream writing(hipStreamNonBlocking);
  const DeviceBuffer flag(8);
  ASSERT_HIP(hipSuccess, hipMemset(flag.data(), 0, 8));
  ASSERT_HIP(hipSuccess, hipStreamWaitValue64(waiting.get(), flag.data(), uint64_t{1} << 40,
                                              hipStreamWaitValueEq));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(waiting.get()));
  ASSERT_HIP(hipSuccess, hipStreamWriteValue64(writing.get(), flag.data(), uint64_t{1} << 40, 0));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(waiting.get()));
}

TEST(HipWaitValue, SignalMemoryIsWaitedForAndWritten) {
  const TestStream stream;
  void* signal = nullptr;
  ASSERT_HIP(hipSuccess, hipExtMallocWithFlags(&signal, 8, hipMallocSignalMemory));
  auto* value = static_cast<uint64_t*>(signal);
  *value = 1;
  ASSERT_HIP(hipSuccess, hipStreamWaitValue64(stream.get(), signal, 2, hipStreamWaitValueEq));
  ASSERT_HIP(hipSuccess, hipStreamWriteValue64(stream.get(), signal, 3, 0));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
  __atomic_store_n(value, uint64_t{2}, __ATOMIC_RELEASE);
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(__atomic_load_n(value, __ATOMIC_ACQUIRE), 3U);
  EXPECT_HIP(hipSuccess, hipFree(signal));
}

// A value for which a stream stands, and the nearest one that lets it go on.
struct Condition {
  const char* name;
  unsigned flags;
  uint64_t value;
  uint64_t mask;
  uint64_t stands;
  uint64_t goes;
};

constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kTop32 = uint64_t{1} << 31;
constexpr uint64_t kTop64 = uint64_t{1} << 63;

const Condition k32[] = {
    {"Gte", hipStreamWaitValueGte, 7, kAll, 6, 7},
    {"GteGreater", hipStreamWaitValueGte, 7, kAll, 0, 1000},
    {"GteWrapped", hipStreamWaitValueGte, 0xfffffffe, kAll, 0xfffffffd, 1},
    {"GteMasked", hipStreamWaitValueGte, 7, 0xf, 0xf6, 0xf7},
    {"Eq", hipStreamWaitValueEq, 7, kAll, 8, 7},
    {"EqMasked", hipStreamWaitValueEq, 7, 0xff, 0x107 + 1, 0x107},
    {"And", hipStreamWaitValueAnd, 0x50, kAll, 0xaf, 0x40},
    {"AndTop", hipStreamWaitValueAnd, kTop32, kAll, kTop32 - 1, kTop32},
    {"AndMasked", hipStreamWaitValueAnd, 0x51, 0x10, 0x41, 0x10},
    {"Nor", hipStreamWaitValueNor, 0xfffffff0, kAll, 0xf, 0x7},
    {"NorMasked", hipStreamWaitValueNor, 0xfffffff0, 0xff, 0x10f, 0x10e},
};
const Condition k64[] = {
    {"Gte", hipStreamWaitValueGte, kTop32, kAll, kTop32 - 1, kTop32},
    {"GteWrapped", hipStreamWaitValueGte, kAll - 1, kAll, kAll - 2, 1},
    {"GteMasked", hipStreamWaitValueGte, 1, kTop32 << 1 | 1, 2, kTop32 << 1},
    {"Eq", hipStreamWaitValueEq, kTop64 | 7, kAll, 7, kTop64 | 7},
    {"EqMasked", hipStreamWaitValueEq, 7, 0xff, kTop64 | 8, kTop64 | 7},
    {"And", hipStreamWaitValueAnd, kTop64, kAll, kTop64 - 1, kTop64},
    {"AndMasked", hipStreamWaitValueAnd, kAll, kTop64, 1, kTop64 | 1},
    {"Nor", hipStreamWaitValueNor, kTop64 - 1, kAll, kTop64, 0},
    {"NorMasked", hipStreamWaitValueNor, kAll - 1, 1, kAll, kAll - 1},
};

class HipWaitCondition : public testing::TestWithParam<Condition> {
 protected:
  // The stream stands, then goes: `store` changes the value.
  template <typename Value>
  void expect_to_stand_and_go(hipError_t (*wait)(hipStream_t, void*, Value, unsigned, Value)) {
    const Condition& condition = GetParam();
    const TestStream stream;
    const PinnedBuffer memory(sizeof(Value));
    auto* value = reinterpret_cast<Value*>(memory.data());
    __atomic_store_n(value, static_cast<Value>(condition.stands), __ATOMIC_RELEASE);
    const bool knows_masks = !has_hazards() && !is_on_nvidia();
    const bool is_known = knows_masks || condition.mask == kAll;
    ASSERT_HIP(is_known ? hipSuccess : hipErrorNotSupported,
               wait(stream.get(), value, static_cast<Value>(condition.value), condition.flags,
                    static_cast<Value>(condition.mask)));
    if (!is_known) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
    __atomic_store_n(value, static_cast<Value>(condition.goes), __ATOMIC_RELEASE);
    EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  }
};

class HipWaitValue32 : public HipWaitCondition {};
class HipWaitValue64 : public HipWaitCondition {};

TEST_P(HipWaitValue32, Rule16_StandsAndGoes) { expect_to_stand_and_go(&hipStreamWaitValue32); }
TEST_P(HipWaitValue64, Rule16_StandsAndGoes) { expect_to_stand_and_go(&hipStreamWaitValue64); }

std::string name_of(const testing::TestParamInfo<Condition>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Conditions, HipWaitValue32, testing::ValuesIn(k32), name_of);
INSTANTIATE_TEST_SUITE_P(Conditions, HipWaitValue64, testing::ValuesIn(k64), name_of);

TEST(HipWriteValue, WritesItsWidthAndNoMore) {
  const DeviceBuffer buffer(16);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 0x11, 16));
  EXPECT_HIP(hipSuccess, hipStreamWriteValue32(nullptr, buffer.data() + 4, 0x44332222, 0));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(nullptr));
  std::vector<char> expected(16, 0x11);
  const char four[] = {0x22, 0x22, 0x33, 0x44};
  std::copy(std::begin(four), std::end(four), expected.begin() + 4);
  EXPECT_EQ(contents(buffer.data(), 16), expected);
  EXPECT_HIP(hipSuccess, hipStreamWriteValue64(nullptr, buffer.data() + 8, 0, 0));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(nullptr));
  std::fill_n(expected.begin() + 8, 8, '\0');
  EXPECT_EQ(contents(buffer.data(), 16), expected);
}

TEST(HipWaitValue, BadArgumentsAreRefused) {
  const PinnedBuffer memory(64);
  uint32_t plain = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipStreamWaitValue32(nullptr, memory.data(), 0, 9));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamWaitValue32(nullptr, memory.data() + 2, 0, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamWaitValue32(nullptr, &plain, 0, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamWriteValue32(nullptr, memory.data(), 0, 1));
}

}  // namespace
