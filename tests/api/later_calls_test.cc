// SPDX-License-Identifier: MIT
// The calls whose work comes later (async, streams, batch): they answer hipFileInternalError and
// change nothing, open or closed.
#include <cstring>
#include <ctime>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr auto kLater = hipFileInternalError;

// Once with a closed library, once with an open one.
class LaterCallsTest : public ApiTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (GetParam()) EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    count_ = hipFileUseCount();
  }
  void TearDown() override {
    EXPECT_EQ(count_, hipFileUseCount()) << "a side effect";
    ApiTest::TearDown();
  }
  int64_t count_ = 0;
};

TEST_P(LaterCallsTest, AsyncTouchesNothing) {
  Buffer buffer(4096);
  buffer.fill(0xee);
  size_t size = 4096;
  hoff_t file_offset = 0, buffer_offset = 0;
  ssize_t bytes = 4711;
  Fd fd(file("f"), O_RDWR | O_CREAT);
  hipFileHandle_t handle = nullptr;
  if (GetParam()) handle = register_fd(fd.get());
  EXPECT_CODE(kLater, hipFileReadAsync(handle, buffer.data(), &size, &file_offset, &buffer_offset,
                                       &bytes, nullptr));
  EXPECT_CODE(kLater, hipFileWriteAsync(handle, buffer.data(), &size, &file_offset, &buffer_offset,
                                        &bytes, nullptr));
  EXPECT_CODE(kLater,
              hipFileReadAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_CODE(kLater,
              hipFileWriteAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(4711, bytes);
  EXPECT_EQ(4096u, size);
  EXPECT_EQ(0, file_size(file("f")));
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(4096, 0xee)));
}

TEST_P(LaterCallsTest, Streams) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (hipStream_t any : {stream, hipStream_t{nullptr}}) {
    for (unsigned flags : {0u, 0xfu, 0x10u}) EXPECT_CODE(kLater, hipFileStreamRegister(any, flags));
    EXPECT_CODE(kLater, hipFileStreamDeregister(any));
  }
  EXPECT_EQ(hipSuccess, hipStreamDestroy(stream));
}

TEST_P(LaterCallsTest, Batch) {
  hipFileBatchHandle_t batch = &count_;
  EXPECT_CODE(kLater, hipFileBatchIOSetUp(&batch, 4));
  EXPECT_EQ(&count_, batch);
  EXPECT_CODE(kLater, hipFileBatchIOSetUp(nullptr, 0));
  hipFileIOParams_t params{};
  hipFileIOEvents_t events{};
  unsigned nr = 1;
  timespec timeout{0, 0};
  EXPECT_CODE(kLater, hipFileBatchIOSubmit(nullptr, 1, &params, 0));
  EXPECT_CODE(kLater, hipFileBatchIOGetStatus(nullptr, 1, &nr, &events, &timeout));
  EXPECT_CODE(kLater, hipFileBatchIOGetStatus(nullptr, 1, nullptr, nullptr, nullptr));
  EXPECT_EQ(1u, nr);
  EXPECT_CODE(kLater, hipFileBatchIOCancel(nullptr));
  hipFileBatchIODestroy(nullptr);
  hipFileBatchIODestroy(&nr);
}

INSTANTIATE_TEST_SUITE_P(, LaterCallsTest, testing::Bool(),
                         [](const auto& open) { return open.param ? "Open" : "Closed"; });

}  // namespace
}  // namespace hipfile::test
