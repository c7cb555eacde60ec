// SPDX-License-Identifier: MIT
//
// The primary context of one device: shared with every other user of the driver in the process,
// retained at the first call that needs it, current only during a call of ours, so that a program
// that uses CUDA too finds its own context as it left it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "../mutex.h"
#include "copy_kernel.h"
#include "cuda_driver.h"
#include "cuda_errors.h"

namespace hip_portable::cuda {

class ContextHolder {
 public:
  ContextHolder(const Driver& driver, DeviceId device) : driver_(driver), device_(device) {}

  const Driver& driver() const { return driver_; }
  DeviceId device() const { return device_; }

  // Grows with every reset: streams and events of an earlier generation are dead.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Calls `call`, which returns a Result, with the context current.
  template <class Call>
  hipError_t run(Call call) {
    Result result = enter();
    if (result != kSuccess) return to_hip(result);
    result = call();
    leave();
    return to_hip(result);
  }

  // Of the present context: for calls inside run().
  CopyKernel& copy_kernel() { return *copy_kernel_.load(std::memory_order_acquire); }
  // Whether it can be launched. Retains the context if nobody has.
  hipError_t copy_kernel_status();

  // Whether a context is the primary one of this device. Of another device's this one makes none.
  bool is_of(Context context);

  // Waits for the work of a context that is there, and makes none.
  hipError_t synchronize_if_used();
  // Waits, destroys the context and everything in it. The next call makes a new one.
  hipError_t reset() HIP_PORTABLE_EXCLUDES(mutex_);

 private:
  Result start(Context* context) HIP_PORTABLE_EXCLUDES(mutex_);
  Result enter() HIP_PORTABLE_EXCLUDES(mutex_);
  void leave();

  const Driver& driver_;
  const DeviceId device_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<Context> context_{nullptr};
  std::atomic<CopyKernel*> copy_kernel_{nullptr};  // set before the context
  Mutex mutex_;  // while the context is retained or reset
  // Those of contexts that were reset stay: a launch on another thread may still look at them.
  std::vector<std::unique_ptr<CopyKernel>> copy_kernels_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable::cuda
