// SPDX-License-Identifier: MIT
//
// Bad calls: memory, copies, virtual memory.

#include "hip_subset_test.h"

namespace hip_test {
namespace {

constexpr hipError_t kValue = hipErrorInvalidValue;
constexpr hipError_t kHandle = hipErrorInvalidHandle;
constexpr hipError_t kNoMemory = hipErrorOutOfMemory;
constexpr size_t kHuge = SIZE_MAX;
constexpr size_t kGrain = 2 * kMiB;

char host[64];
void* pointer;
void** const no_target = nullptr;
unsigned flags;
unsigned long long access;
size_t size;
hipPointerAttribute_t attributes;
hipMemGenericAllocationHandle_t handle;
const hipMemAllocationProp nowhere{};
const hipMemAllocationProp pinned{
    hipMemAllocationTypePinned, {hipMemHandleTypeNone}, {hipMemLocationTypeDevice, 0}, nullptr, {}};
const hipMemLocation location{hipMemLocationTypeDevice, 0};
const hipMemLocation no_location{hipMemLocationTypeDevice, -1};
const hipMemAccessDesc all_access{location, hipMemAccessFlagsProtReadWrite};
const auto no_kind = static_cast<hipMemcpyKind>(99);

void* const odd = reinterpret_cast<void*>(16);        // in no process
void* const grain = reinterpret_cast<void*>(kGrain);  // a multiple, and not reserved

}  // namespace

std::vector<BadCall> bad_calls_of_memory() {
  return {
      HIP_BAD(hipMalloc, kValue, no_target, 8),
      HIP_BAD(hipMalloc, kNoMemory, &pointer, kHuge),
      HIP_BAD(hipFree, kValue, odd),
      HIP_BAD(hipFree, kValue, minus_one<void*>()),
      HIP_BAD(hipFree, kValue, host),
      HIP_BAD(hipExtMallocWithFlags, kValue, nullptr, 8, 0),
      HIP_BAD(hipExtMallocWithFlags, kValue, &pointer, 8, ~0U),
      HIP_BAD(hipExtMallocWithFlags, kValue, &pointer, 16, hipMallocSignalMemory),
      HIP_BAD(hipExtMallocWithFlags, kNoMemory, &pointer, kHuge, 0),
      HIP_BAD(hipMallocManaged, kValue, no_target, 8, hipMemAttachGlobal),
      HIP_BAD(hipMallocManaged, kValue, &pointer, 0, hipMemAttachGlobal),
      HIP_BAD(hipMallocManaged, kValue, &pointer, 8, ~0U),
      HIP_BAD(hipMallocManaged, kNoMemory, &pointer, kHuge, hipMemAttachGlobal),
      HIP_BAD(hipMallocAsync, kValue, no_target, 8, nullptr),
      HIP_BAD(hipMallocAsync, kNoMemory, &pointer, kHuge, nullptr),
      HIP_BAD(hipMallocAsync, kHandle, &pointer, 8, unknown<hipStream_t>()),
      HIP_BAD(hipFreeAsync, kValue, nullptr, nullptr),
      HIP_BAD(hipFreeAsync, kValue, odd, nullptr),
      HIP_BAD(hipFreeAsync, kHandle, odd, minus_one<hipStream_t>()),
      HIP_BAD(hipMemGetInfo, kValue, nullptr, &size),
      HIP_BAD(hipMemGetInfo, kValue, &size, nullptr),
      HIP_BAD(hipPointerGetAttributes, kValue, nullptr, host),
      HIP_BAD(hipPointerGetAttributes, kValue, &attributes, nullptr),
      HIP_BAD(hipMemGetAddressRange, kValue, &pointer, &size, nullptr),
      HIP_BAD(hipMemGetAddressRange, hipErrorNotFound, &pointer, &size, odd),

      HIP_BAD(hipHostMalloc, kValue, no_target, 8, 0),
      HIP_BAD(hipHostMalloc, kValue, &pointer, 8, 0x40),
      HIP_BAD(hipHostMalloc, kNoMemory, &pointer, kHuge, 0),
      HIP_BAD(hipHostAlloc, kValue, nullptr, 8, 0),
      HIP_BAD(hipHostAlloc, kNoMemory, &pointer, kHuge, 0),
      HIP_BAD(hipExtHostAlloc, kValue, nullptr, 8, 0),
      HIP_BAD(hipExtHostAlloc, kNoMemory, &pointer, kHuge, 0),
      HIP_BAD(hipMallocHost, kValue, no_target, 8),
      HIP_BAD(hipMallocHost, kNoMemory, &pointer, kHuge),
      HIP_BAD(hipHostFree, kValue, host),
      HIP_BAD(hipFreeHost, kValue, odd),
      HIP_BAD(hipHostRegister, kValue, nullptr, 8, 0),
      HIP_BAD(hipHostRegister, kValue, host, 0, 0),
      HIP_BAD(hipHostRegister, kValue, host, kHuge, 0),
      HIP_BAD(hipHostRegister, kValue, host, 8, 0x40),
      HIP_BAD(hipHostRegister, kValue, odd, 8, 0),
      HIP_BAD(hipHostUnregister, kValue, nullptr),
      HIP_BAD(hipHostUnregister, hipErrorHostMemoryNotRegistered, host),
      HIP_BAD(hipHostGetDevicePointer, kValue, nullptr, host, 0),
      HIP_BAD(hipHostGetDevicePointer, kValue, &pointer, nullptr, 0),
      HIP_BAD(hipHostGetDevicePointer, kValue, &pointer, host, 0),
      HIP_BAD(hipHostGetFlags, kValue, nullptr, host),
      HIP_BAD(hipHostGetFlags, kValue, &flags, nullptr),
      HIP_BAD(hipHostGetFlags, kValue, &flags, host),

      HIP_BAD(hipMemcpy, kValue, nullptr, host, 8, hipMemcpyDefault),
      HIP_BAD(hipMemcpy, kValue, host, nullptr, 8, hipMemcpyDefault),
      HIP_BAD(hipMemcpy, kValue, host, host + 8, 8, hipMemcpyHostToDevice),
      HIP_BAD(hipMemcpy, hipErrorInvalidMemcpyDirection, host, host, 8, no_kind),
      HIP_BAD(hipMemcpyAsync, kValue, nullptr, host, kHuge, hipMemcpyDefault, nullptr),
      HIP_BAD(hipMemcpyAsync, kHandle, host, host, 8, hipMemcpyDefault, unknown<hipStream_t>()),
      HIP_BAD(hipMemcpyAsync, hipErrorInvalidMemcpyDirection, host, host, 8, no_kind, nullptr),
      HIP_BAD(hipMemcpyHtoD, kValue, nullptr, host, 8),
      HIP_BAD(hipMemcpyHtoD, kValue, host, host, 8),
      HIP_BAD(hipMemcpyDtoH, kValue, host, nullptr, 8),
      HIP_BAD(hipMemcpyDtoH, kValue, host, host, 8),
      HIP_BAD(hipMemcpyHtoDAsync, kValue, nullptr, host, 8, nullptr),
      HIP_BAD(hipMemcpyHtoDAsync, kHandle, odd, host, 8, unknown<hipStream_t>()),
      HIP_BAD(hipMemcpyDtoHAsync, kValue, host, nullptr, 8, nullptr),
      HIP_BAD(hipMemcpyDtoHAsync, kHandle, host, odd, 8, unknown<hipStream_t>()),
      HIP_BAD(hipMemcpyPeer, hipErrorInvalidDevice, host, -1, host, 0, 8),
      HIP_BAD(hipMemcpyPeer, hipErrorInvalidDevice, host, 0, host, 99, 8),
      HIP_BAD(hipMemcpyPeer, kValue, nullptr, 0, nullptr, 0, 8),
      HIP_BAD(hipMemset, kValue, nullptr, 0, 8),
      HIP_BAD(hipMemset, kValue, host, 0, kHuge),
      HIP_BAD(hipMemsetD8, kValue, nullptr, 0, 8),
      HIP_BAD(hipMemsetAsync, kValue, nullptr, 0, 8, nullptr),
      HIP_BAD(hipMemsetAsync, kHandle, odd, 0, 8, unknown<hipStream_t>()),

      HIP_BAD(hipMemAddressReserve, kValue, nullptr, kGrain, 0, nullptr, 0),
      HIP_BAD(hipMemAddressReserve, kValue, &pointer, kHuge, 0, nullptr, 0),
      HIP_BAD(hipMemAddressReserve, kNoMemory, &pointer, kHuge - kGrain + 1, 0, nullptr, 0),
      HIP_BAD(hipMemAddressReserve, kNoMemory, &pointer, kGrain, size_t{1} << 63, nullptr, 0),
      HIP_BAD(hipMemAddressFree, kValue, nullptr, kGrain),
      HIP_BAD(hipMemAddressFree, kValue, grain, kHuge),
      HIP_BAD(hipMemGetAllocationGranularity, kValue, nullptr, &pinned,
              hipMemAllocationGranularityMinimum),
      HIP_BAD(hipMemGetAllocationGranularity, kValue, &size, nullptr,
              hipMemAllocationGranularityMinimum),
      HIP_BAD(hipMemGetAllocationGranularity, kValue, &size, &nowhere,
              hipMemAllocationGranularityMinimum),
      HIP_BAD(hipMemCreate, kValue, nullptr, kGrain, &pinned, 0),
      HIP_BAD(hipMemCreate, kValue, &handle, kGrain, &nowhere, 0),
      HIP_BAD(hipMemCreate, kNoMemory, &handle, kHuge - kGrain + 1, &pinned, 0),
      HIP_BAD(hipMemRelease, kValue, nullptr),
      HIP_BAD(hipMemRelease, kValue, unknown<hipMemGenericAllocationHandle_t>()),
      HIP_BAD(hipMemRetainAllocationHandle, kValue, nullptr, odd),
      HIP_BAD(hipMemRetainAllocationHandle, kValue, &handle, odd),
      HIP_BAD(hipMemGetAllocationPropertiesFromHandle, kValue, nullptr, handle),
      HIP_BAD(hipMemMap, kValue, nullptr, kGrain, 0, nullptr, 0),
      HIP_BAD(hipMemMap, kValue, grain, kGrain, 0, nullptr, 0),
      HIP_BAD(hipMemMap, kValue, grain, kHuge - kGrain + 1, 0, nullptr, 0),
      HIP_BAD(hipMemUnmap, kValue, nullptr, kGrain),
      HIP_BAD(hipMemUnmap, kValue, grain, kHuge - kGrain + 1),
      HIP_BAD(hipMemSetAccess, kValue, nullptr, kGrain, &all_access, 1),
      HIP_BAD(hipMemSetAccess, kValue, grain, kGrain, &all_access, 1),
      HIP_BAD(hipMemGetAccess, kValue, nullptr, &location, odd),
      HIP_BAD(hipMemGetAccess, kValue, &access, nullptr, odd),
      HIP_BAD(hipMemGetAccess, kValue, &access, &no_location, odd),
      HIP_BAD(hipMemGetAccess, kValue, &access, &location, odd),
  };
}

}  // namespace hip_test
