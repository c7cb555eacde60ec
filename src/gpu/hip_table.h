// SPDX-License-Identifier: MIT
//
// The HIP functions that the library and the tools use, found at run time. Members are HIP's names
// without the prefix: `hip.Malloc(&pointer, size)`.
#pragma once

#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>

namespace hipfile::gpu {

// clang-format off
// A runtime without one of these is of no use.
#define HIPFILE_HIP_REQUIRED(X)                                                                    \
  X(Init) X(RuntimeGetVersion) X(GetDeviceCount) X(GetDevice) X(SetDevice) X(DeviceGetName)        \
  X(DeviceGetPCIBusId) X(DeviceSynchronize) X(DeviceGetStreamPriorityRange) X(Free) X(HostFree)    \
  X(HostRegister) X(HostUnregister) X(Memcpy) X(MemcpyAsync) X(Memset) X(MemsetAsync)              \
  X(PointerGetAttributes) X(MemGetAddressRange) X(MemGetInfo) X(StreamCreateWithFlags)             \
  X(StreamCreateWithPriority) X(StreamDestroy) X(StreamQuery) X(StreamSynchronize)                 \
  X(StreamWaitEvent) X(EventCreateWithFlags) X(EventRecord) X(EventQuery) X(EventSynchronize)      \
  X(EventDestroy) X(GetErrorName)                                                                  \
  X(GetErrorString) X(GetLastError) X(PeekAtLastError) X(GetProcAddress)

// Work in the program's own streams needs these, but for the last two; without one of them async
// calls block.
#define HIPFILE_HIP_OPTIONAL(X)                                                                    \
  X(LaunchHostFunc) X(StreamWaitValue32) X(StreamGetDevice) X(StreamIsCapturing)                   \
  X(DeviceGetAttribute) X(DeviceGetUuid) X(ThreadExchangeStreamCaptureMode)
// clang-format on

/// NULL where a member is optional and the runtime lacks it.
struct HipTable {
#define HIPFILE_HIP_MEMBER(name) decltype(&::hip##name) name = nullptr;
  HIPFILE_HIP_REQUIRED(HIPFILE_HIP_MEMBER)
  HIPFILE_HIP_OPTIONAL(HIPFILE_HIP_MEMBER)
#undef HIPFILE_HIP_MEMBER
  // Overloaded for C++, so that their types are spelled out. Required too.
  hipError_t (*Malloc)(void** pointer, size_t size) = nullptr;
  hipError_t (*HostMalloc)(void** pointer, size_t size, unsigned flags) = nullptr;
  // Optional.
  hipAmdFileRead_t AmdFileRead = nullptr;
  hipAmdFileWrite_t AmdFileWrite = nullptr;
  decltype(&::hipPortableMarker) PortableMarker = nullptr;
  decltype(&::hipPortableSetLastError) PortableSetLastError = nullptr;
  decltype(&::hipPortableDeviceIsEmulated) PortableDeviceIsEmulated = nullptr;
  decltype(&::hipPortablePassedOver) PortablePassedOver = nullptr;
  decltype(&::hipPortableMemcpyIndirectAsync) PortableMemcpyIndirectAsync = nullptr;
  decltype(&::hipPortableIndirectCopyStatus) PortableIndirectCopyStatus = nullptr;
  decltype(&::hipPortableFileRead) PortableFileRead = nullptr;
};

}  // namespace hipfile::gpu
