// SPDX-License-Identifier: MIT
//
// What the tests of the runtime share: checks that name the error, and objects that clean up.
#pragma once

#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/modes.h"

#define EXPECT_HIP(expected, call) \
  EXPECT_STREQ(hipGetErrorName(call), hipGetErrorName(expected)) << #call
#define ASSERT_HIP(expected, call) \
  ASSERT_STREQ(hipGetErrorName(call), hipGetErrorName(expected)) << #call

namespace hip_test {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

using hipfile::test::has_hazards;
using hipfile::test::is_strict;

// Device memory; null when there is none.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t size) {
    if (hipMalloc(&data_, size) != hipSuccess) data_ = nullptr;
  }
  ~DeviceBuffer() { (void)hipFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t size) {
    if (hipHostMalloc(&data_, size) != hipSuccess) data_ = nullptr;
  }
  ~PinnedBuffer() { (void)hipHostFree(data_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

class TestStream {
 public:
  explicit TestStream(unsigned flags = hipStreamDefault) {
    if (hipStreamCreateWithFlags(&stream_, flags) != hipSuccess) stream_ = nullptr;
  }
  ~TestStream() { (void)hipStreamDestroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  hipStream_t get() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

// Holds a stream up until it is opened; opens itself at the end of the test.
class Gate {
 public:
  ~Gate() {
    open();
    while (queued_.load() != passed_.load()) std::this_thread::yield();
  }
  void open() { is_open_ = true; }
  hipError_t close_stream(hipStream_t stream) {
    const hipError_t error = hipLaunchHostFunc(stream, &Gate::wait, this);
    if (error == hipSuccess) ++queued_;
    return error;
  }

 private:
  static void wait(void* data) {
    Gate& gate = *static_cast<Gate*>(data);
    while (!gate.is_open_.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++gate.passed_;
  }
  std::atomic<bool> is_open_{false};
  std::atomic<int> queued_{0};
  std::atomic<int> passed_{0};
};

inline std::vector<char> pattern(size_t size, unsigned seed = 1) {
  std::vector<char> bytes(size);
  for (size_t i = 0; i < size; ++i) {
    seed = seed * 1664525U + 1013904223U;
    bytes[i] = static_cast<char>(seed >> 24);
  }
  return bytes;
}

// What the device holds, by a copy.
inline std::vector<char> contents(const void* device, size_t size) {
  std::vector<char> bytes(size);
  EXPECT_HIP(hipSuccess, hipMemcpy(bytes.data(), device, size, hipMemcpyDeviceToHost));
  return bytes;
}

inline void set_flag(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

// Gives queued work that should not run time to run all the same.
inline void let_others_run() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace hip_test
