// SPDX-License-Identifier: MIT
//
// Entry points: pinned host memory, under all its names.

#include "entry.h"

namespace hip_portable {
namespace {

constexpr unsigned kAllocationFlags =
    hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
    hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent |
    hipHostMallocNonCoherent;
constexpr unsigned kRegistrationFlags = hipHostRegisterPortable | hipHostRegisterMapped |
                                        hipHostRegisterIoMemory | hipHostRegisterReadOnly |
                                        hipExtHostRegisterUncached;

hipError_t allocate_pinned(void** pointer, std::size_t size, unsigned flags) {
  return with_uncaptured_device([&](Device& device) {
    const bool is_both = (flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent);
    if (pointer == nullptr || (flags & ~kAllocationFlags) != 0 || is_both) {
      return hipErrorInvalidValue;
    }
    *pointer = nullptr;
    return size == 0 ? hipSuccess : device.allocate_host(size, flags, pointer);
  });
}

hipError_t free_pinned(void* pointer) {
  return with_uncaptured_device([&](Device& device) {
    return pointer == nullptr ? hipSuccess : device.release_host(pointer);
  });
}

// Pinned or registered, else hipErrorInvalidValue.
hipError_t describe_pinned(Device& device, void* pointer, PointerInfo* info) {
  if (pointer == nullptr) return hipErrorInvalidValue;
  const hipError_t error = device.describe(pointer, info);
  if (error != hipSuccess) return error;
  return info->type == hipMemoryTypeHost ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace
}  // namespace hip_portable

using hip_portable::allocate_pinned;
using hip_portable::Device;
using hip_portable::free_pinned;
using hip_portable::PointerInfo;
using hip_portable::with_current_device;
using hip_portable::with_uncaptured_device;

hipError_t hipHostMalloc(void** ptr, size_t size, unsigned int flags) {
  return allocate_pinned(ptr, size, flags);
}

hipError_t hipHostAlloc(void** ptr, size_t size, unsigned int flags) {
  return allocate_pinned(ptr, size, flags);
}

hipError_t hipExtHostAlloc(void** ptr, size_t size, unsigned int flags) {
  return allocate_pinned(ptr, size, flags);
}

hipError_t hipMallocHost(void** ptr, size_t size) {
  return allocate_pinned(ptr, size, hipHostMallocDefault);
}

hipError_t hipHostFree(void* ptr) { return free_pinned(ptr); }

hipError_t hipFreeHost(void* ptr) { return free_pinned(ptr); }

hipError_t hipHostRegister(void* hostPtr, size_t sizeBytes, unsigned int flags) {
  return with_uncaptured_device([&](Device& device) {
    const bool is_known = (flags & ~hip_portable::kRegistrationFlags) == 0;
    if (hostPtr == nullptr || sizeBytes == 0 || !is_known) return hipErrorInvalidValue;
    return device.register_host(hostPtr, sizeBytes, flags);
  });
}

hipError_t hipHostUnregister(void* hostPtr) {
  return with_uncaptured_device([&](Device& device) {
    return hostPtr == nullptr ? hipErrorInvalidValue : device.unregister_host(hostPtr);
  });
}

hipError_t hipHostGetDevicePointer(void** devPtr, void* hstPtr, unsigned int flags) {
  return with_current_device([&](Device& device) {
    if (devPtr == nullptr || flags != 0) return hipErrorInvalidValue;
    PointerInfo info;
    const hipError_t error = hip_portable::describe_pinned(device, hstPtr, &info);
    if (error == hipSuccess) *devPtr = info.device_pointer;
    return error;
  });
}

hipError_t hipHostGetFlags(unsigned int* flagsPtr, void* hostPtr) {
  return with_current_device([&](Device& device) {
    if (flagsPtr == nullptr) return hipErrorInvalidValue;
    PointerInfo info;
    const hipError_t error = hip_portable::describe_pinned(device, hostPtr, &info);
    if (error == hipSuccess) *flagsPtr = info.flags;
    return error;
  });
}
