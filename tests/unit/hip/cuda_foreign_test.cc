// SPDX-License-Identifier: MIT
//
// Streams that a program made by NVIDIA's driver itself, as frameworks do: they work in every call
// here, belong to the program, and tell who captures them.

#include "cuda_device_fixture.h"

namespace hip_portable::cuda::test {
namespace {

class ForeignStreamTest : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    ASSERT_EQ(driver().primary_context_retain(&context_, 0), kSuccess);
    ASSERT_EQ(driver().context_push(context_), kSuccess);
    ASSERT_EQ(driver().stream_create(&handle_, 1, 0), kSuccess);
    ASSERT_EQ(driver().context_pop(&context_), kSuccess);
  }
  void TearDown() override {
    ASSERT_EQ(driver().context_push(context_), kSuccess);
    // Adopting has not taken it from the program.
    EXPECT_EQ(driver().stream_destroy(handle_), kSuccess);
    ASSERT_EQ(driver().context_pop(&context_), kSuccess);
    CudaDeviceTest::TearDown();
  }
  static const Driver& driver() { return driver_state().driver; }

  std::unique_ptr<DeviceStream> adopt(Device& on, void* handle, hipError_t expected = hipSuccess) {
    std::unique_ptr<DeviceStream> stream;
    EXPECT_EQ(on.adopt_stream(handle, &stream), expected);
    return stream;
  }

  Stream handle_ = nullptr;
  Context context_ = nullptr;
};

TEST_F(ForeignStreamTest, WorkRunsInIt) {
  const std::unique_ptr<DeviceStream> stream = adopt(device(), handle_);
  const std::vector<unsigned char> sent = pattern(kSize);
  std::vector<unsigned char> received(kSize);
  void* memory = allocate(kSize);
  EXPECT_EQ(stream->copy(memory, sent.data(), kSize, true), hipSuccess);
  EXPECT_EQ(stream->copy(received.data(), memory, kSize, true), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(ForeignStreamTest, WhatIsNoStreamIsRefused) {
  long long other[4] = {};
  adopt(device(), other, hipErrorInvalidHandle);
  adopt(device(), reinterpret_cast<void*>(std::uintptr_t{0x1050}), hipErrorInvalidHandle);
  adopt(device(), reinterpret_cast<void*>(std::uintptr_t{0x7ff}), hipErrorInvalidHandle);
  adopt(device(), reinterpret_cast<char*>(handle_) + 1, hipErrorInvalidHandle);
}

TEST_F(ForeignStreamTest, BelongsToItsDevice) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  CudaDevice second(driver(), 1, 1, std::make_shared<SharedMemory>(driver()));
  adopt(second, handle_, hipErrorInvalidHandle);
  adopt(device(), handle_);
  unsetenv("FAKE_CUDA_DEVICES");
}

TEST_F(ForeignStreamTest, Rule12_CaptureOfTheProgramIsSeen) {
  void* library_handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library_handle, nullptr);
  const auto set =
      reinterpret_cast<void (*)(Stream, int)>(dlsym(library_handle, "fakeCudaSetCaptureStatus"));
  dlclose(library_handle);
  if (set == nullptr) GTEST_SKIP() << "only the fake driver can be told";
  const std::unique_ptr<DeviceStream> stream = adopt(device(), handle_);
  for (const hipStreamCaptureStatus status :
       {hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated,
        hipStreamCaptureStatusNone}) {
    set(handle_, status);
    hipStreamCaptureStatus seen = hipStreamCaptureStatusNone;
    EXPECT_EQ(stream->capture_status(&seen, nullptr), hipSuccess);
    EXPECT_EQ(seen, status);
  }
}

TEST_F(ForeignStreamTest, Rule12_CaptureModeIsTheDriversToo) {
  EXPECT_EQ(device().set_capture_mode(hipStreamCaptureModeRelaxed), hipSuccess);
  int mode = hipStreamCaptureModeGlobal;
  EXPECT_EQ(driver().exchange_capture_mode(&mode), kSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
}

}  // namespace
}  // namespace hip_portable::cuda::test
