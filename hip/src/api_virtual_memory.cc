// SPDX-License-Identifier: MIT
//
// Entry points: virtual memory.

#include "entry.h"

namespace hip_portable {
namespace {

// body(Runtime&, VirtualMemory&)
template <typename Body>
hipError_t with_virtual_memory(Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    VirtualMemory* const memory = runtime.device(this_thread().device).virtual_memory();
    return memory != nullptr ? body(runtime, *memory) : hipErrorNotSupported;
  });
}

bool is_whole(const VirtualMemory& memory, std::size_t size) {
  return size != 0 && size % memory.granularity() == 0;
}

bool is_range(const VirtualMemory& memory, const void* pointer, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return pointer != nullptr && address % memory.granularity() == 0 && is_whole(memory, size);
}

// Memory of a device, pinned there, that no other process gets: what there is.
hipError_t check_properties(const Runtime& runtime, const hipMemAllocationProp* wanted) {
  if (wanted == nullptr) return hipErrorInvalidValue;
  switch (static_cast<int>(wanted->type)) {
    case hipMemAllocationTypePinned:
      break;
    case hipMemAllocationTypeManaged:
    case hipMemAllocationTypeUncached:
      return hipErrorNotSupported;
    default:
      return hipErrorInvalidValue;
  }
  if (wanted->location.type != hipMemLocationTypeDevice) {
    const bool is_host = wanted->location.type >= hipMemLocationTypeHost &&
                         wanted->location.type <= hipMemLocationTypeHostNumaCurrent;
    return is_host ? hipErrorNotSupported : hipErrorInvalidValue;
  }
  if (!runtime.is_device(wanted->location.id)) return hipErrorInvalidValue;
  return wanted->requestedHandleTypes == hipMemHandleTypeNone ? hipSuccess : hipErrorNotSupported;
}

bool is_access(hipMemAccessFlags flags) {
  return flags == hipMemAccessFlagsProtNone || flags == hipMemAccessFlagsProtRead ||
         flags == hipMemAccessFlagsProtReadWrite;
}

bool is_device(const Runtime& runtime, const hipMemLocation& location) {
  return location.type == hipMemLocationTypeDevice && runtime.is_device(location.id);
}

}  // namespace
}  // namespace hip_portable

using hip_portable::is_range;
using hip_portable::is_whole;
using hip_portable::Runtime;
using hip_portable::VirtualMemory;
using hip_portable::with_virtual_memory;

hipError_t hipMemAddressReserve(void** ptr, size_t size, size_t alignment, void* addr,
                                unsigned long long flags) {
  return with_virtual_memory([&](Runtime&, VirtualMemory& memory) {
    const bool is_power_of_two = (alignment & (alignment - 1)) == 0;  // 0 is one here
    if (ptr == nullptr || flags != 0 || !is_whole(memory, size) || !is_power_of_two) {
      return hipErrorInvalidValue;
    }
    *ptr = nullptr;
    return memory.reserve(size, alignment, addr, ptr);
  });
}

hipError_t hipMemAddressFree(void* devPtr, size_t size) {
  return with_virtual_memory([&](Runtime&, VirtualMemory& memory) {
    return devPtr == nullptr ? hipErrorInvalidValue : memory.unreserve(devPtr, size);
  });
}

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  return with_virtual_memory([&](Runtime& runtime, VirtualMemory& memory) {
    const bool is_option = option == hipMemAllocationGranularityMinimum ||
                           option == hipMemAllocationGranularityRecommended;
    if (granularity == nullptr || !is_option) return hipErrorInvalidValue;
    const hipError_t error = hip_portable::check_properties(runtime, prop);
    if (error == hipSuccess) *granularity = memory.granularity();
    return error;
  });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size,
                        const hipMemAllocationProp* prop, unsigned long long flags) {
  return with_virtual_memory([&](Runtime& runtime, VirtualMemory& memory) {
    if (handle == nullptr || flags != 0 || !is_whole(memory, size)) return hipErrorInvalidValue;
    *handle = nullptr;
    const hipError_t error = hip_portable::check_properties(runtime, prop);
    return error != hipSuccess ? error : memory.create(prop->location.id, size, handle);
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return with_virtual_memory(
      [&](Runtime&, VirtualMemory& memory) { return memory.release(handle); });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* addr) {
  return with_virtual_memory([&](Runtime&, VirtualMemory& memory) {
    return handle == nullptr ? hipErrorInvalidValue : memory.retain(addr, handle);
  });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop,
                                                   hipMemGenericAllocationHandle_t handle) {
  return with_virtual_memory([&](Runtime&, VirtualMemory& memory) {
    if (prop == nullptr) return hipErrorInvalidValue;
    int device = 0;
    const hipError_t error = memory.device_of(handle, &device);
    if (error != hipSuccess) return error;
    *prop = {};
    prop->type = hipMemAllocationTypePinned;
    prop->location = {hipMemLocationTypeDevice, device};
    return hipSuccess;
  });
}

hipError_t hipMemMap(void* ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return with_virtual_memory([&](Runtime&, VirtualMemory& memory) {
    if (offset != 0 || flags != 0 || !is_range(memory, ptr, size)) return hipErrorInvalidValue;
    return memory.map(ptr, size, handle);
  });
}

hipError_t hipMemUnmap(void* ptr, size_t size) {
  return with_virtual_memory([&](Runtime& runtime, VirtualMemory& memory) {
    const hipError_t error = runtime.captures().check_unrecordable();  // it waits for the devices
    if (error != hipSuccess) return error;
    return is_range(memory, ptr, size) ? memory.unmap(ptr, size) : hipErrorInvalidValue;
  });
}

hipError_t hipMemSetAccess(void* ptr, size_t size, const hipMemAccessDesc* desc, size_t count) {
  return with_virtual_memory([&](Runtime& runtime, VirtualMemory& memory) {
    if (!is_range(memory, ptr, size) || desc == nullptr || count == 0) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const bool is_right = hip_portable::is_device(runtime, desc[i].location) &&
                            hip_portable::is_access(desc[i].flags);
      if (!is_right) return hipErrorInvalidValue;
    }
    hipError_t error = hipSuccess;
    for (size_t i = 0; i < count && error == hipSuccess; ++i) {
      error = memory.set_access(ptr, size, desc[i].location.id, desc[i].flags);
    }
    return error;
  });
}

hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* ptr) {
  return with_virtual_memory([&](Runtime& runtime, VirtualMemory& memory) {
    if (flags == nullptr || location == nullptr || !hip_portable::is_device(runtime, *location)) {
      return hipErrorInvalidValue;
    }
    hipMemAccessFlags access = hipMemAccessFlagsProtNone;
    const hipError_t error = memory.access_of(ptr, location->id, &access);
    if (error == hipSuccess) *flags = access;
    return error;
  });
}
