// SPDX-License-Identifier: MIT
//
// Retaining, entering and resetting the primary context.

#include "cuda_context.h"

#include <utility>

namespace hip_portable::cuda {

// A device on which the kernel cannot be loaded does all else: launching it says why. Where only
// memory is short the context does not count as retained: the next call tries once more.
Result ContextHolder::start(Context* context) {
  const MutexLock lock(mutex_);
  *context = context_.load(std::memory_order_acquire);
  if (*context != nullptr) return kSuccess;
  auto made = std::make_unique<CopyKernel>();
  copy_kernels_.reserve(copy_kernels_.size() + 1);  // what throws does so before the context is in
  Result result = driver_.primary_context_retain(context, device_);
  if (result == kSuccess) result = driver_.context_push(*context);
  if (result != kSuccess) return result;
  CopyKernel* const kernel = made.get();
  copy_kernels_.push_back(std::move(made));
  result = kernel->load(driver_);
  leave();
  if (result == kOutOfMemory) {
    copy_kernels_.pop_back();
    return result;
  }
  copy_kernel_.store(kernel, std::memory_order_release);
  context_.store(*context, std::memory_order_release);
  return kSuccess;
}

Result ContextHolder::enter() {
  Context context = context_.load(std::memory_order_acquire);
  if (context == nullptr) {
    const Result result = start(&context);
    if (result != kSuccess) return result;
  }
  return driver_.context_push(context);
}

void ContextHolder::leave() {
  // Fails only if the call popped more than it pushed, or while the driver is going down.
  Context popped = nullptr;
  static_cast<void>(driver_.context_pop(&popped));
}

bool ContextHolder::is_of(Context context) {
  if (driver_.context_push(context) != kSuccess) return false;
  DeviceId device = -1;
  const Result result = driver_.context_get_device(&device);
  leave();
  if (result != kSuccess || device != device_) return false;
  return run([] { return kSuccess; }) == hipSuccess &&
         context_.load(std::memory_order_acquire) == context;
}

hipError_t ContextHolder::copy_kernel_status() {
  if (context_.load(std::memory_order_acquire) == nullptr) {
    const hipError_t error = run([] { return kSuccess; });
    if (error != hipSuccess) return error;
  }
  return to_hip(copy_kernel().load_result());
}

hipError_t ContextHolder::synchronize_if_used() {
  if (context_.load(std::memory_order_acquire) == nullptr) return hipSuccess;
  return run([this] { return driver_.context_synchronize(); });
}

hipError_t ContextHolder::reset() {
  // The result of work that failed is no reason to keep the context: a reset is the cure.
  static_cast<void>(run([this] { return driver_.context_synchronize(); }));
  const MutexLock lock(mutex_);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  context_.store(nullptr, std::memory_order_release);
  return to_hip(driver_.primary_context_reset(device_));
}

}  // namespace hip_portable::cuda
