// SPDX-License-Identifier: MIT
//
// Kernels of the tests (kernels.cu) on the current device. A device that runs no code of programs
// has none; why() says so, for the reason of a skipped test.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "device_buffer.h"

namespace hipfile::test {

class Kernels {
 public:
  Kernels();
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  bool are_there() const { return error_ == hipSuccess; }
  std::string why() const;

  // Queue a launch. Results are added to a number in device memory: the device's atomic operations
  // need not reach the host's.
  void sum(const void* bytes, size_t size, uint64_t* sum, hipStream_t stream) const;
  void add(void* bytes, size_t size, uint8_t value, hipStream_t stream) const;
  void fill(void* bytes, size_t size, uint64_t seed, uint64_t position, hipStream_t stream) const;
  // Bytes that differ from the pattern.
  void count_wrong(const void* bytes, size_t size, uint64_t seed, uint64_t position,
                   uint64_t* wrong, hipStream_t stream) const;

 private:
  void launch(const char* name, void** parameters, hipStream_t stream) const;

  hipModule_t module_ = nullptr;
  hipError_t error_ = hipSuccess;
};

// What a kernel has left there.
uint64_t number(const Buffer& result);

}  // namespace hipfile::test
