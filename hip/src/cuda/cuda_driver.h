// SPDX-License-Identifier: MIT
//
// NVIDIA's driver library, opened at run time: one structure of function pointers. Nothing of CUDA
// is linked, so the runtime loads on machines without it.
#pragma once

#include <hip/hip_runtime_api.h>

#include "cuda_types.h"

namespace hip_portable::cuda {

// member, symbol, parameters. Symbols carry the suffix of the interface that the types describe.
#define HIP_PORTABLE_CUDA_FUNCTIONS(X)                                                            \
  X(init, "cuInit", (unsigned flags))                                                             \
  X(driver_get_version, "cuDriverGetVersion", (int* version))                                     \
  X(device_get_count, "cuDeviceGetCount", (int* count))                                           \
  X(device_get, "cuDeviceGet", (DeviceId * device, int ordinal))                                  \
  X(device_get_name, "cuDeviceGetName", (char* name, int size, DeviceId device))                  \
  X(device_get_uuid, "cuDeviceGetUuid", (Uuid * uuid, DeviceId device))                           \
  X(device_total_mem, "cuDeviceTotalMem_v2", (std::size_t * bytes, DeviceId device))              \
  X(device_get_attribute, "cuDeviceGetAttribute", (int* value, int attribute, DeviceId device))   \
  X(device_can_access_peer, "cuDeviceCanAccessPeer", (int* can, DeviceId device, DeviceId peer))  \
  X(primary_context_retain, "cuDevicePrimaryCtxRetain", (Context * context, DeviceId device))     \
  X(primary_context_reset, "cuDevicePrimaryCtxReset_v2", (DeviceId device))                       \
  X(context_push, "cuCtxPushCurrent_v2", (Context context))                                       \
  X(context_pop, "cuCtxPopCurrent_v2", (Context * context))                                       \
  X(context_get_device, "cuCtxGetDevice", (DeviceId * device))                                    \
  X(context_synchronize, "cuCtxSynchronize", ())                                                  \
  X(priority_range, "cuCtxGetStreamPriorityRange", (int* least, int* greatest))                   \
  X(mem_get_info, "cuMemGetInfo_v2", (std::size_t * free, std::size_t * total))                   \
  X(mem_alloc, "cuMemAlloc_v2", (DevicePtr * address, std::size_t size))                          \
  X(mem_alloc_managed, "cuMemAllocManaged",                                                       \
    (DevicePtr * address, std::size_t size, unsigned flags))                                      \
  X(mem_alloc_async, "cuMemAllocAsync", (DevicePtr * address, std::size_t size, Stream stream))   \
  X(mem_free, "cuMemFree_v2", (DevicePtr address))                                                \
  X(mem_free_async, "cuMemFreeAsync", (DevicePtr address, Stream stream))                         \
  X(mem_host_alloc, "cuMemHostAlloc", (void** pointer, std::size_t size, unsigned flags))         \
  X(mem_free_host, "cuMemFreeHost", (void* pointer))                                              \
  X(mem_host_register, "cuMemHostRegister_v2",                                                    \
    (void* pointer, std::size_t size, unsigned flags))                                            \
  X(mem_host_unregister, "cuMemHostUnregister", (void* pointer))                                  \
  X(pointer_get_attributes, "cuPointerGetAttributes",                                             \
    (unsigned count, PointerAttribute* which, void** values, DevicePtr address))                  \
  X(mem_address_reserve, "cuMemAddressReserve",                                                   \
    (DevicePtr * address, std::size_t size, std::size_t alignment, DevicePtr wish,                \
     unsigned long long flags))                                                                   \
  X(mem_address_free, "cuMemAddressFree", (DevicePtr address, std::size_t size))                  \
  X(mem_create, "cuMemCreate",                                                                    \
    (AllocationHandle * handle, std::size_t size, const AllocationProperties* properties,         \
     unsigned long long flags))                                                                   \
  X(mem_release, "cuMemRelease", (AllocationHandle handle))                                       \
  X(mem_retain_handle, "cuMemRetainAllocationHandle",                                             \
    (AllocationHandle * handle, void* address))                                                   \
  X(mem_get_properties, "cuMemGetAllocationPropertiesFromHandle",                                 \
    (AllocationProperties * properties, AllocationHandle handle))                                 \
  X(mem_get_granularity, "cuMemGetAllocationGranularity",                                         \
    (std::size_t * granularity, const AllocationProperties* properties, int option))              \
  X(mem_map, "cuMemMap",                                                                          \
    (DevicePtr address, std::size_t size, std::size_t offset, AllocationHandle handle,            \
     unsigned long long flags))                                                                   \
  X(mem_unmap, "cuMemUnmap", (DevicePtr address, std::size_t size))                               \
  X(mem_set_access, "cuMemSetAccess",                                                             \
    (DevicePtr address, std::size_t size, const AccessDescription* description,                   \
     std::size_t count))                                                                          \
  X(mem_get_access, "cuMemGetAccess",                                                             \
    (unsigned long long* flags, const Location* location, DevicePtr address))                     \
  X(memcpy_async, "cuMemcpyAsync",                                                                \
    (DevicePtr to, DevicePtr from, std::size_t size, Stream stream))                              \
  X(memset_async, "cuMemsetD8Async",                                                              \
    (DevicePtr to, unsigned char value, std::size_t count, Stream stream))                        \
  X(stream_create, "cuStreamCreateWithPriority",                                                  \
    (Stream * stream, unsigned flags, int priority))                                              \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream stream))                                        \
  X(stream_get_context, "cuStreamGetCtx", (Stream stream, Context * context))                     \
  X(stream_is_capturing, "cuStreamIsCapturing", (Stream stream, int* status))                     \
  X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", (int* mode))                      \
  X(stream_query, "cuStreamQuery", (Stream stream))                                               \
  X(stream_synchronize, "cuStreamSynchronize", (Stream stream))                                   \
  X(stream_wait_event, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))         \
  X(launch_host_function, "cuLaunchHostFunc",                                                     \
    (Stream stream, HostFunction function, void* user_data))                                      \
  X(stream_wait_value32, "cuStreamWaitValue32_v2",                                                \
    (Stream stream, DevicePtr address, std::uint32_t value, unsigned flags))                      \
  X(stream_wait_value64, "cuStreamWaitValue64_v2",                                                \
    (Stream stream, DevicePtr address, std::uint64_t value, unsigned flags))                      \
  X(stream_write_value32, "cuStreamWriteValue32_v2",                                              \
    (Stream stream, DevicePtr address, std::uint32_t value, unsigned flags))                      \
  X(stream_write_value64, "cuStreamWriteValue64_v2",                                              \
    (Stream stream, DevicePtr address, std::uint64_t value, unsigned flags))                      \
  X(module_load_data, "cuModuleLoadData", (Module * module, const void* image))                   \
  X(module_unload, "cuModuleUnload", (Module module))                                             \
  X(module_get_function, "cuModuleGetFunction",                                                   \
    (Function * function, Module module, const char* name))                                       \
  X(launch_kernel, "cuLaunchKernel",                                                              \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, \
     void** extra))                                                                               \
  X(event_create, "cuEventCreate", (Event * event, unsigned flags))                               \
  X(event_record, "cuEventRecord", (Event event, Stream stream))                                  \
  X(event_query, "cuEventQuery", (Event event))                                                   \
  X(event_synchronize, "cuEventSynchronize", (Event event))                                       \
  X(event_elapsed_time, "cuEventElapsedTime", (float* milliseconds, Event start, Event stop))     \
  X(event_destroy, "cuEventDestroy_v2", (Event event))

struct Driver {
#define HIP_PORTABLE_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  HIP_PORTABLE_CUDA_FUNCTIONS(HIP_PORTABLE_CUDA_MEMBER)
#undef HIP_PORTABLE_CUDA_MEMBER
};

// What became of the attempt to load the driver. Made once, kept for the life of the process.
struct DriverState {
  Driver driver;
  // hipSuccess: the driver is loaded and sees a device. hipErrorNoDevice: it sees none, or the
  // kernel side of it is missing; hipErrorSharedObjectInitFailed: the library is;
  // hipErrorInsufficientDriver: it is too old, or is not of the kernel's version;
  // hipErrorOperatingSystem: no permission; else the driver's own.
  hipError_t error = hipErrorNoDevice;
  int device_count = 0;
};

// Opens and starts the driver at the first call. Where neither /proc/driver/nvidia/version nor
// /dev/dxg (WSL) exists, nothing is opened: a machine without the hardware pays no start-up time.
// HIP_PORTABLE_CUDA_LIBRARY names another library file and skips that look.
const DriverState& driver_state();

}  // namespace hip_portable::cuda
