// SPDX-License-Identifier: MIT
//
// Entry points: copies and fills.

#include "entry.h"
#include "pointer_check.h"

namespace hip_portable {
namespace {

hipError_t copy_now(const CopyRequest& request) {
  return with_runtime([&](Runtime& runtime) {
    const int ordinal = this_thread().device;
    Device& device = runtime.device(ordinal);
    bool is_pageable = false;
    hipError_t error = check_copy(device, request, &is_pageable);
    if (error == hipSuccess) error = runtime.captures().check_null_stream(ordinal);
    if (error != hipSuccess || request.size == 0) return error;
    return device.copy(request.to, request.from, request.size);
  });
}

hipError_t copy_in_order(const CopyRequest& request, hipStream_t handle) {
  return with_stream(handle, [&](Runtime& runtime, Stream& stream) {
    bool is_pageable = false;
    const hipError_t error = check_copy(runtime.device(stream.device), request, &is_pageable);
    if (error != hipSuccess || request.size == 0) return error;
    return queue(runtime, stream, [request, is_pageable](DeviceStream& work) {
      return work.copy(request.to, request.from, request.size, is_pageable);
    });
  });
}

hipError_t copy_indirect(hipStream_t handle, const hipPortableIndirectCopy_t* descriptor) {
  return with_stream(handle, [&](Runtime& runtime, Stream& stream) {
    if (!runtime.settings().has_indirect_copies) return hipErrorNotSupported;
    const hipError_t error =
        check_shared_object(runtime.device(stream.device), descriptor, sizeof(*descriptor),
                            alignof(hipPortableIndirectCopy_t));
    if (error != hipSuccess) return error;
    return queue(runtime, stream,
                 [descriptor](DeviceStream& work) { return work.copy_indirect(descriptor); });
  });
}

hipError_t fill_in_order(void* to, int value, std::size_t size, hipStream_t handle,
                         bool is_waited) {
  return with_stream(handle, [&](Runtime& runtime, Stream& stream) {
    if (size == 0) return hipSuccess;
    hipError_t error = check_device_range(runtime.device(stream.device), to, size,
                                          hipMemAccessFlagsProtReadWrite);
    if (error != hipSuccess) return error;
    error = queue(runtime, stream, [to, value, size](DeviceStream& work) {
      return work.fill(to, static_cast<unsigned char>(value), size);
    });
    return error == hipSuccess && is_waited ? stream.work->synchronize() : error;
  });
}

// Waits although HIP need not: file transfers follow that no stream orders.
hipError_t fill_now(void* to, int value, std::size_t size) {
  return fill_in_order(to, value, size, nullptr, true);
}

}  // namespace
}  // namespace hip_portable

using hip_portable::copy_in_order;
using hip_portable::copy_now;

hipError_t hipMemcpy(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return copy_now({dst, src, sizeBytes, kind});
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void* src, size_t sizeBytes) {
  return copy_now({dst, src, sizeBytes, hipMemcpyHostToDevice});
}

hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes) {
  return copy_now({dst, src, sizeBytes, hipMemcpyDeviceToHost});
}

hipError_t hipMemcpyPeer(void* dst, int dstDeviceId, const void* src, int srcDeviceId,
                         size_t sizeBytes) {
  const hipError_t error = hip_portable::with_runtime([&](hip_portable::Runtime& runtime) {
    const bool are_devices = runtime.is_device(dstDeviceId) && runtime.is_device(srcDeviceId);
    return are_devices ? hipSuccess : hipErrorInvalidDevice;
  });
  if (error != hipSuccess) return error;
  return copy_now({dst, src, sizeBytes, hipMemcpyDeviceToDevice});
}

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return copy_in_order({dst, src, sizeBytes, kind}, stream);
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void* src, size_t sizeBytes,
                              hipStream_t stream) {
  return copy_in_order({dst, src, sizeBytes, hipMemcpyHostToDevice}, stream);
}

hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t sizeBytes,
                              hipStream_t stream) {
  return copy_in_order({dst, src, sizeBytes, hipMemcpyDeviceToHost}, stream);
}

hipError_t hipPortableMemcpyIndirectAsync(hipStream_t stream,
                                          const hipPortableIndirectCopy_t* descriptor) {
  return hip_portable::copy_indirect(stream, descriptor);
}

hipError_t hipPortableIndirectCopyStatus(int device) {
  return hip_portable::with_runtime([&](hip_portable::Runtime& runtime) {
    if (!runtime.is_device(device)) return hipErrorInvalidDevice;
    if (!runtime.settings().has_indirect_copies) return hipErrorNotSupported;
    return runtime.device(device).indirect_copy_status();
  });
}

hipError_t hipMemset(void* dst, int value, size_t sizeBytes) {
  return hip_portable::fill_now(dst, value, sizeBytes);
}

hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count) {
  return hip_portable::fill_now(dest, value, count);
}

hipError_t hipMemsetAsync(void* dst, int value, size_t sizeBytes, hipStream_t stream) {
  return hip_portable::fill_in_order(dst, value, sizeBytes, stream, false);
}
