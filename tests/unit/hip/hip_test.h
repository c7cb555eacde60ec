// SPDX-License-Identifier: MIT
//
// What the tests of the runtime share: checks that name the error, and objects that clean up.
#pragma once

#include <gtest/gtest.h>
#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "support/modes.h"

#define EXPECT_HIP(expected, call) \
  EXPECT_STREQ(hipGetErrorName(call), hipGetErrorName(expected)) << #call
#define ASSERT_HIP(expected, call) \
  ASSERT_STREQ(hipGetErrorName(call), hipGetErrorName(expected)) << #call

namespace hip_test {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

using hipfile::test::has_hazards;
using hipfile::test::is_on_gpu;
using hipfile::test::is_on_nvidia;
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

// Pinned memory, zeroed: a runtime need not.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t size) {
    if (hipHostMalloc(&data_, size) != hipSuccess) data_ = nullptr;
    if (data_ != nullptr) std::memset(data_, 0, size);
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

// Holds streams up until it is opened; opens itself at the end of the test. By a wait for a value:
// a host function would hold up those of all streams where one thread runs them.
class Gate {
 public:
  Gate() = default;
  ~Gate() {
    open();
    for (size_t i = 1; i <= queued_; ++i) {
      while (__atomic_load_n(&values_[i], __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
    }
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() { __atomic_store_n(&values_[0], 1, __ATOMIC_RELEASE); }
  hipError_t close_stream(hipStream_t stream) {
    if (values_ == nullptr || queued_ + 1 == kValues) return hipErrorOutOfMemory;
    const hipError_t error = hipStreamWaitValue64(stream, values_, 1, hipStreamWaitValueEq);
    if (error != hipSuccess) return error;
    ++queued_;
    return hipStreamWriteValue64(stream, &values_[queued_], 1, 0);  // it has passed
  }

 private:
  static constexpr size_t kValues = 16;
  const PinnedBuffer memory_{kValues * sizeof(uint64_t)};
  uint64_t* const values_ = reinterpret_cast<uint64_t*>(memory_.data());
  size_t queued_ = 0;
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

inline int device_count() {
  int count = 0;
  EXPECT_HIP(hipSuccess, hipGetDeviceCount(&count));
  return count;
}

// What no call gave out, and nothing is mapped there: a driver looks into what it is given.
inline hipStream_t unknown_stream() { return reinterpret_cast<hipStream_t>(uintptr_t{0xbad0}); }

inline void set_flag(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

// Gives queued work that should not run time to run all the same.
inline void let_others_run() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace hip_test
