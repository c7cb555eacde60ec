// SPDX-License-Identifier: MIT
//
// The types and values of NVIDIA's driver interface that this runtime uses, declared by hand: no
// header of CUDA is needed to build. Values are fixed by the driver's binary interface.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hip_portable::cuda {

using Result = int;  // CUresult
using DeviceId = int;  // CUdevice; not the ordinal
using DevicePtr = std::uint64_t;

struct ContextTag;
struct StreamTag;
struct EventTag;
struct ModuleTag;
struct FunctionTag;
using Context = ContextTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using HostFunction = void (*)(void* user_data);

struct Uuid {
  char bytes[16];
};

// Results that the code itself compares with; cuda_errors.cc knows them all.
constexpr Result kSuccess = 0;
constexpr Result kInvalidValue = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidDevice = 101;
constexpr Result kAlreadyMapped = 208;
constexpr Result kNotMapped = 211;
constexpr Result kNotReady = 600;
constexpr Result kNotSupported = 801;
constexpr Result kUnknown = 999;
constexpr Result kNotLoaded = 500;  // CUDA_ERROR_NOT_FOUND

// Handles with a fixed meaning.
inline Stream legacy_stream() { return reinterpret_cast<Stream>(std::uintptr_t{1}); }
inline Stream per_thread_stream() { return reinterpret_cast<Stream>(std::uintptr_t{2}); }

// cuMemHostAlloc
constexpr unsigned kHostAllocPortable = 1;
constexpr unsigned kHostAllocMapped = 2;
constexpr unsigned kHostAllocWriteCombined = 4;
// cuMemHostRegister
constexpr unsigned kHostRegisterPortable = 1;
constexpr unsigned kHostRegisterMapped = 2;
constexpr unsigned kHostRegisterIoMemory = 4;
constexpr unsigned kHostRegisterReadOnly = 8;
// cuMemAllocManaged
constexpr unsigned kAttachGlobal = 1;
constexpr unsigned kAttachHost = 2;

// CUmemAllocationProp and what belongs to it
using AllocationHandle = std::uint64_t;
constexpr int kAllocationPinned = 1;
constexpr int kLocationDevice = 1;
constexpr int kGranularityMinimum = 0;
struct Location {
  int type;
  int id;
};
struct AllocationProperties {
  int type;
  int handle_types;
  Location location;
  void* win32_data;
  unsigned char flags[8];
};
struct AccessDescription {
  Location location;
  int flags;
};
static_assert(sizeof(AllocationProperties) == 32 && sizeof(AccessDescription) == 12);

// CUpointer_attribute
enum PointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerDevicePointer = 3,
  kPointerHostPointer = 4,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMappingSize = 18,
  kPointerMappingStart = 19,
};

// CUmemorytype
enum MemoryType : unsigned {
  kMemoryHost = 1,
  kMemoryDevice = 2,
  kMemoryArray = 3,
  kMemoryUnified = 4,
};

// CUdevice_attribute
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,
  kMaxBlockDimY = 3,
  kMaxBlockDimZ = 4,
  kMaxGridDimX = 5,
  kMaxGridDimY = 6,
  kMaxGridDimZ = 7,
  kMaxSharedMemoryPerBlock = 8,
  kTotalConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kTextureAlignment = 14,
  kGpuOverlap = 15,
  kMultiprocessorCount = 16,
  kKernelExecTimeout = 17,
  kIntegrated = 18,
  kCanMapHostMemory = 19,
  kComputeMode = 20,
  kSurfaceAlignment = 30,
  kConcurrentKernels = 31,
  kEccEnabled = 32,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kTccDriver = 35,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kAsyncEngineCount = 40,
  kUnifiedAddressing = 41,
  kPciDomainId = 50,
  kTexturePitchAlignment = 51,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kStreamPrioritiesSupported = 78,
  kGlobalL1CacheSupported = 79,
  kLocalL1CacheSupported = 80,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kManagedMemory = 83,
  kMultiGpuBoard = 84,
  kMultiGpuBoardGroupId = 85,
  kHostNativeAtomicSupported = 86,
  kPageableMemoryAccess = 88,
  kConcurrentManagedAccess = 89,
  kComputePreemptionSupported = 90,
  kCanUseHostPointerForRegisteredMem = 91,
  kCooperativeLaunch = 95,
  kMaxSharedMemoryPerBlockOptin = 97,
  kHostRegisterSupported = 99,
  kPageableMemoryAccessUsesHostPageTables = 100,
  kDirectManagedMemAccessFromHost = 101,
  kVirtualMemoryManagementSupported = 102,
  kMaxBlocksPerMultiprocessor = 106,
  kMemoryPoolsSupported = 115,
  kGpuDirectRdmaSupported = 116,
  kCanUse64BitStreamMemOps = 122,
  kHostNumaId = 134,
};

}  // namespace hip_portable::cuda
