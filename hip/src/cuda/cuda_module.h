// SPDX-License-Identifier: MIT
//
// Code of a program on a GPU of NVIDIA: PTX, cubin or a fat binary, as the driver takes them. A
// module whose context was reset is gone with it, and its kernels with the module.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "../device.h"
#include "cuda_context.h"

namespace hip_portable::cuda {

class CudaModule : public DeviceModule {
 public:
  static hipError_t load(ContextHolder& context, const void* image,
                         std::unique_ptr<DeviceModule>* module);
  ~CudaModule() override;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  hipError_t find(const char* name, void** kernel) override;

 private:
  CudaModule(ContextHolder& context, Module handle, std::uint64_t generation)
      : context_(context), handle_(handle), generation_(generation) {}

  ContextHolder& context_;
  const Module handle_;
  const std::uint64_t generation_;
};

// The packed parameters of a launch: HIP ends the list with 3, the driver with 0.
class DriverExtra {
 public:
  // False for a list that is none of HIP's.
  bool read(void** extra);
  void** pairs() { return pairs_.data(); }

 private:
  std::array<void*, 5> pairs_{};
};

}  // namespace hip_portable::cuda
