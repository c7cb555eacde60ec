// SPDX-License-Identifier: MIT
// Several GPUs, and the order between I/O and device work of the program.
#include <atomic>
#include <thread>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class DevicesTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    ASSERT_EQ(hipSuccess, hipGetDeviceCount(&count_));
    if (count_ < 2) GTEST_SKIP() << "one device only (HIP_PORTABLE_DEVICES=2 gives two)";
  }
  void TearDown() override {
    (void)hipSetDevice(0);
    ApiTest::TearDown();
  }
  static int current() {
    int device = -1;
    EXPECT_EQ(hipSuccess, hipGetDevice(&device));
    return device;
  }
  int count_ = 0;
};

TEST_F(DevicesTest, BufferOfAnotherDeviceIsUsedAndTheCurrentOneKept) {
  RegisteredFile f(file("f"), (20 << 20) + 100, 1);
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer buffer(20 << 20);
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  EXPECT_EQ(20 << 20, hipFileRead(f.handle(), buffer.data(), 20 << 20, 0, 0));
  EXPECT_EQ(0, current());
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(20 << 20, 1)));
  EXPECT_EQ(5000, hipFileRead(f.handle(), buffer.data(), 5000, 7, 1));
  EXPECT_EQ(0, current());
  EXPECT_EQ("", first_difference(buffer.get(1, 5000), make_pattern(5000, 1, 7)));
}

TEST_F(DevicesTest, WriteFromAnotherDeviceKeepsTheCurrentOne) {
  RegisteredFile f(file("f"), 0, 0);
  Buffer zero(65536);
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer one(65536);
  zero.set(make_pattern(65536, 1));
  one.set(make_pattern(65536, 2));
  EXPECT_EQ(65536, hipFileWrite(f.handle(), zero.data(), 65536, 0, 0));
  EXPECT_EQ(1, current());
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  EXPECT_EQ(65536, hipFileWrite(f.handle(), one.data(), 65536, 65536, 0));
  EXPECT_EQ(0, current());
  std::vector<uint8_t> expected = make_pattern(131072, 1);
  fill_pattern(expected.data() + 65536, 65536, 2);
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

TEST_F(DevicesTest, RegisteredBufferRemembersItsDevice) {
  RegisteredFile f(file("f"), 65536, 1);
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer buffer(65536);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  for (int turn = 0; turn < 4; ++turn) {
    EXPECT_EQ(65535, hipFileRead(f.handle(), buffer.data(), 65535, 0, 1));
    EXPECT_EQ(0, current());
  }
  EXPECT_EQ("", first_difference(buffer.get(1, 65535), make_pattern(65535, 1)));
}

TEST_F(DevicesTest, FailureKeepsTheCurrentDevice) {
  Fd fd(file("f"), O_WRONLY | O_CREAT);
  hipFileHandle_t handle = register_fd(fd.get());
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer buffer(4096);
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  EXPECT_ERRNO(EBADF, hipFileRead(handle, buffer.data(), 4096, 0, 0));
  EXPECT_EQ(0, current());
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(handle, buffer.data(), 8192, 0, 0));
  EXPECT_EQ(0, current());
}

class DeviceOrderTest : public ApiTest {};

TEST_F(DeviceOrderTest, WriteTakesWhatTheDeviceHoldsAndReadIsSeenByIt) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer one(65536), two(65536);
  EXPECT_EQ(65536, hipFileRead(f.handle(), one.data(), 65536, 0, 0));
  ASSERT_EQ(hipSuccess, hipMemcpy(two.data(), one.data(), 65536, hipMemcpyDeviceToDevice));
  ASSERT_EQ(hipSuccess, hipMemset(two.at(100), 0x5a, 1000));
  ASSERT_EQ(hipSuccess, hipDeviceSynchronize());
  EXPECT_EQ(65536, hipFileWrite(f.handle(), two.data(), 65536, 0, 0));
  std::vector<uint8_t> expected = make_pattern(65536, 1);
  std::fill_n(expected.begin() + 100, 1000, uint8_t{0x5a});
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

TEST_F(DeviceOrderTest, IoDoesNotWaitForAnIndependentStream) {
  // A host function holds a non-blocking stream; our own copies must not wait for it.
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  std::atomic<bool> released{false};
  ASSERT_EQ(hipSuccess, hipLaunchHostFunc(
                            stream,
                            [](void* flag) {
                              auto* gate = static_cast<std::atomic<bool>*>(flag);
                              while (!gate->load()) std::this_thread::yield();
                            },
                            &released));
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ(60000, hipFileWrite(f.handle(), buffer.data(), 60000, 3, 1));
  released = true;
  EXPECT_EQ(hipSuccess, hipStreamSynchronize(stream));
  EXPECT_EQ(hipSuccess, hipStreamDestroy(stream));
}

}  // namespace
}  // namespace hipfile::test
