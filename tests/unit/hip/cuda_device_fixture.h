// SPDX-License-Identifier: MIT
//
// A device of NVIDIA's driver (the fake one unless HIP_PORTABLE_CUDA_LIBRARY names another) for the
// tests of it.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/cuda_device.h"

namespace hip_portable::cuda::test {

constexpr std::size_t kSize = 1 << 20;

inline const char* library() {
  const char* named = std::getenv("HIP_PORTABLE_CUDA_LIBRARY");
  return named != nullptr ? named : FAKE_CUDA_LIBRARY;
}

inline std::vector<unsigned char> pattern(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<unsigned char>(at * 31 + 7);
  return bytes;
}

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HIP_PORTABLE_CUDA_LIBRARY", library(), 1);
    hipError_t error = hipErrorUnknown;
    devices_ = make_cuda_devices(&error);
    ASSERT_EQ(error, hipSuccess);
    ASSERT_FALSE(devices_.empty());
  }

  void TearDown() override { EXPECT_EQ(contexts_left_current(), 0); }

  Device& device() { return *devices_.front(); }

  void* allocate(std::size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(device().allocate(size, hipDeviceMallocDefault, &pointer), hipSuccess);
    return pointer;
  }

  std::unique_ptr<DeviceStream> make_stream() {
    std::unique_ptr<DeviceStream> stream;
    EXPECT_EQ(device().create_stream(hipStreamNonBlocking, 0, &stream), hipSuccess);
    return stream;
  }

  std::unique_ptr<DeviceEvent> make_event(unsigned flags = hipEventDefault) {
    std::unique_ptr<DeviceEvent> event;
    EXPECT_EQ(device().create_event(flags, &event), hipSuccess);
    return event;
  }

 private:
  // Only the fake driver tells.
  static int contexts_left_current() {
    void* handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return 0;
    const auto depth = reinterpret_cast<int (*)()>(dlsym(handle, "fakeCudaContextDepth"));
    const int left = depth != nullptr ? depth() : 0;
    dlclose(handle);
    return left;
  }

  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace hip_portable::cuda::test
