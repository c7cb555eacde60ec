// SPDX-License-Identifier: MIT
//
// Entry points: device and managed memory, and what a pointer is.

#include "entry.h"

using hip_portable::Device;
using hip_portable::PointerInfo;
using hip_portable::Runtime;
using hip_portable::Stream;
using hip_portable::this_thread;
using hip_portable::with_current_device;
using hip_portable::with_runtime;
using hip_portable::with_stream;
using hip_portable::with_uncaptured_device;

hipError_t hipMalloc(void** ptr, size_t size) {
  return with_uncaptured_device([&](Device& device) {
    if (ptr == nullptr) return hipErrorInvalidValue;
    *ptr = nullptr;
    return size == 0 ? hipSuccess : device.allocate(size, hipDeviceMallocDefault, ptr);
  });
}

hipError_t hipExtMallocWithFlags(void** ptr, size_t sizeBytes, unsigned int flags) {
  return with_uncaptured_device([&](Device& device) {
    if (ptr == nullptr || flags > hipDeviceMallocContiguous) return hipErrorInvalidValue;
    if (flags == hipMallocSignalMemory && sizeBytes != 8) return hipErrorInvalidValue;
    *ptr = nullptr;
    return sizeBytes == 0 ? hipSuccess : device.allocate(sizeBytes, flags, ptr);
  });
}

hipError_t hipMallocManaged(void** dev_ptr, size_t size, unsigned int flags) {
  return with_uncaptured_device([&](Device& device) {
    if (dev_ptr == nullptr || size == 0) return hipErrorInvalidValue;
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
    *dev_ptr = nullptr;
    return device.allocate_managed(size, flags, dev_ptr);
  });
}

// On the device of the pointer: the thread's current one would wait for the wrong work.
hipError_t hipFree(void* ptr) {
  return with_runtime([&](Runtime& runtime) {
    hipError_t error = runtime.captures().check_unrecordable();
    if (error != hipSuccess || ptr == nullptr) return error;
    Device& current = runtime.device(this_thread().device);
    PointerInfo info;
    error = current.describe(ptr, &info);
    if (error != hipSuccess) return error;
    // Refused at once: the device would wait for its work first.
    const bool is_devices =
        info.type != hipMemoryTypeUnregistered && info.type != hipMemoryTypeHost;
    if (!is_devices) return hipErrorInvalidValue;
    return (runtime.is_device(info.device) ? runtime.device(info.device) : current).release(ptr);
  });
}

hipError_t hipMallocAsync(void** dev_ptr, size_t size, hipStream_t stream) {
  return with_stream(stream, [&](Runtime& runtime, Stream& order) {
    if (dev_ptr == nullptr) return hipErrorInvalidValue;
    *dev_ptr = nullptr;
    if (size == 0) return hipSuccess;
    const hipError_t error = runtime.captures().check_stream(order);
    if (error != hipSuccess) return error;
    return runtime.device(order.device).allocate_async(size, *order.work, dev_ptr);
  });
}

hipError_t hipFreeAsync(void* dev_ptr, hipStream_t stream) {
  return with_stream(stream, [&](Runtime& runtime, Stream& order) {
    if (dev_ptr == nullptr) return hipErrorInvalidValue;
    const hipError_t error = runtime.captures().check_stream(order);
    if (error != hipSuccess) return error;
    return runtime.device(order.device).release_async(dev_ptr, *order.work);
  });
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return with_current_device([&](Device& device) {
    if (free == nullptr || total == nullptr) return hipErrorInvalidValue;
    return device.memory_info(free, total);
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  return with_current_device([&](Device& device) {
    if (attributes == nullptr || ptr == nullptr) return hipErrorInvalidValue;
    PointerInfo info;
    const hipError_t error = device.describe(ptr, &info);
    if (error != hipSuccess) return error;
    *attributes = {info.type,
                   info.device,
                   info.device_pointer,
                   info.host_pointer,
                   info.type == hipMemoryTypeManaged ? 1 : 0,
                   info.flags};
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* pbase, size_t* psize, hipDeviceptr_t dptr) {
  return with_current_device([&](Device& device) {
    if (dptr == nullptr) return hipErrorInvalidValue;
    PointerInfo info;
    const hipError_t error = device.describe(dptr, &info);
    if (error != hipSuccess || info.type == hipMemoryTypeUnregistered) return hipErrorNotFound;
    if (info.size == 0) return hipErrorNotFound;  // known, but not from where to where
    device.widen(&info);
    if (pbase != nullptr) *pbase = info.base;
    if (psize != nullptr) *psize = info.size;
    return hipSuccess;
  });
}
