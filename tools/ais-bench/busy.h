// SPDX-License-Identifier: MIT
//
// A program's kernel beside which calls are measured: it holds every multiprocessor from before a
// run begins until after it has ended.
#pragma once

#include <cstdint>

#include "bench.h"

namespace ais_bench {

/// Ends the program where no kernel can run.
class BusyKernel {
 public:
  explicit BusyKernel(const Device& device);
  ~BusyKernel();
  BusyKernel(const BusyKernel&) = delete;
  BusyKernel& operator=(const BusyKernel&) = delete;

  /// Returns when it runs.
  void start();
  /// Ends the program if it has ended before: then nothing was measured beside it.
  void stop();

 private:
  struct Calls {
    decltype(&::hipModuleLoadData) load = nullptr;
    decltype(&::hipModuleUnload) unload = nullptr;
    decltype(&::hipModuleGetFunction) get_function = nullptr;
    decltype(&::hipModuleLaunchKernel) launch = nullptr;
  };
  template <class Call>
  void find(const char* name, Call* call) const;
  uint32_t attribute(hipDeviceAttribute_t attribute) const;
  volatile uint32_t* signals() const;

  const Device& device_;
  Calls calls_;
  Memory signals_;  // what kernel and host tell each other; see busy_kernel.cu
  Streams stream_;
  hipModule_t module_ = nullptr;
  hipFunction_t kernel_ = nullptr;
  unsigned blocks_ = 0;
  uint32_t number_ = 0;
};

/// The same work while the kernel runs.
Work beside_kernel(const Work& quiet, BusyKernel& kernel);

}  // namespace ais_bench
