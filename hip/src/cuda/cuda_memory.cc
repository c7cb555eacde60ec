// SPDX-License-Identifier: MIT
//
// Memory of NVIDIA's devices: device, managed and pinned memory, and what a pointer is.

#include <algorithm>
#include <iterator>

#include "cuda_device.h"

namespace hip_portable::cuda {
namespace {

// Pinned memory serves all devices, as HIP's does. The flags above the driver's own are AMD's
// choices of coherence, which has only one kind here.
constexpr unsigned kAllocFlags = kHostAllocPortable | kHostAllocMapped | kHostAllocWriteCombined;
constexpr unsigned kRegisterFlags = kHostRegisterMapped | kHostRegisterIoMemory;

struct PointerAnswer {
  unsigned memory_type = 0;
  std::uint32_t is_managed = 0;  // the driver writes one byte or four
  int ordinal = hipInvalidDeviceId;
  // The allocation; of virtual memory, the reservation.
  DevicePtr range_start = 0;
  std::size_t range_size = 0;
  // The memory behind it: of virtual memory one mapping, of others as much or more than the range,
  // but pools have large allocations in pieces, of which the last may be larger than what is left.
  DevicePtr mapping_start = 0;
  std::size_t mapping_size = 0;

  // Of the mapping, inside the range.
  DevicePtr start() const { return std::max(mapping_start, range_start); }
  DevicePtr end() const { return std::min(mapping_start + mapping_size, range_start + range_size); }
};

// Needs no context, so that a pointer is known before it is known whose context is wanted.
Result ask(const Driver& driver, DevicePtr address, PointerAnswer* answer) {
  PointerAttribute which[] = {kPointerMemoryType, kPointerIsManaged, kPointerDeviceOrdinal,
                              kPointerRangeStart, kPointerRangeSize, kPointerMappingStart,
                              kPointerMappingSize};
  void* values[] = {&answer->memory_type, &answer->is_managed, &answer->ordinal,
                    &answer->range_start, &answer->range_size, &answer->mapping_start,
                    &answer->mapping_size};
  return driver.pointer_get_attributes(std::size(which), which, values, address);
}

bool has_mappings(const PointerAnswer& answer) {
  return answer.mapping_size != 0 && answer.mapping_size < answer.range_size &&
         answer.mapping_start >= answer.range_start;
}

}  // namespace

hipError_t CudaDevice::memory_info(std::size_t* free, std::size_t* total) {
  return context_.run([&] { return driver().mem_get_info(free, total); });
}

hipError_t CudaDevice::allocate(std::size_t size, unsigned flags, void** pointer) {
  // A signal is waited for by the device and written by the host as well.
  if (flags == hipMallocSignalMemory) {
    return allocate_pinned(size, hipHostMallocDefault, PinnedKind::kSignal, pointer);
  }
  DevicePtr address = 0;
  const hipError_t error = context_.run([&] { return driver().mem_alloc(&address, size); });
  *pointer = reinterpret_cast<void*>(address);
  return error;
}

hipError_t CudaDevice::allocate_managed(std::size_t size, unsigned flags, void** pointer) {
  const unsigned attach = flags == hipMemAttachHost ? kAttachHost : kAttachGlobal;
  DevicePtr address = 0;
  const hipError_t error =
      context_.run([&] { return driver().mem_alloc_managed(&address, size, attach); });
  *pointer = reinterpret_cast<void*>(address);
  return error;
}

hipError_t CudaDevice::allocate_async(std::size_t size, DeviceStream& stream, void** pointer) {
  const Stream handle = static_cast<CudaStream&>(stream).handle();
  DevicePtr address = 0;
  const hipError_t error =
      context_.run([&] { return driver().mem_alloc_async(&address, size, handle); });
  *pointer = reinterpret_cast<void*>(address);
  return error;
}

hipError_t CudaDevice::release(void* pointer) {
  if (pinned_.is_start(pointer, PinnedKind::kSignal)) {
    return release_pinned(pointer, PinnedKind::kSignal);
  }
  // The driver does not wait for memory that came from cuMemAllocAsync.
  return context_.run([&] {
    const Result result = driver().context_synchronize();
    return result == kSuccess ? driver().mem_free(to_device_ptr(pointer)) : result;
  });
}

hipError_t CudaDevice::release_async(void* pointer, DeviceStream& stream) {
  if (pinned_.is_start(pointer, PinnedKind::kSignal)) {
    const hipError_t error = stream.synchronize();
    return error == hipSuccess ? release_pinned(pointer, PinnedKind::kSignal) : error;
  }
  const Stream handle = static_cast<CudaStream&>(stream).handle();
  return context_.run([&] { return driver().mem_free_async(to_device_ptr(pointer), handle); });
}

hipError_t CudaDevice::allocate_pinned(std::size_t size, unsigned flags, PinnedKind kind,
                                       void** pointer) {
  const unsigned driver_flags = (flags & kAllocFlags) | kHostAllocPortable | kHostAllocMapped;
  void* memory = nullptr;
  const hipError_t error =
      context_.run([&] { return driver().mem_host_alloc(&memory, size, driver_flags); });
  if (error != hipSuccess) return error;
  pinned_.add({memory, size, kind, flags, ordinal_});
  *pointer = memory;
  return hipSuccess;
}

hipError_t CudaDevice::release_pinned(void* pointer, PinnedKind kind) {
  return take_off(pointer, kind, driver().mem_free_host, hipErrorInvalidValue);
}

hipError_t CudaDevice::take_off(void* pointer, PinnedKind kind, Result (*give_back)(void*),
                                hipError_t error_if_unknown) {
  PinnedRange range;
  // Off the list first: the address may be given out again as soon as it is free.
  if (!pinned_.remove(pointer, kind, &range)) return error_if_unknown;
  const hipError_t error = context_.run([&] {
    const Result result = driver().context_synchronize();
    return result == kSuccess ? give_back(pointer) : result;
  });
  if (error != hipSuccess) pinned_.add(range);
  return error;
}

hipError_t CudaDevice::allocate_host(std::size_t size, unsigned flags, void** pointer) {
  return allocate_pinned(size, flags, PinnedKind::kAllocated, pointer);
}

hipError_t CudaDevice::release_host(void* pointer) {
  return release_pinned(pointer, PinnedKind::kAllocated);
}

// Memory of a device, virtual or not, is no host memory, whatever the driver says.
hipError_t CudaDevice::register_host(void* pointer, std::size_t size, unsigned flags) {
  PointerInfo info;
  const hipError_t known = describe_device_memory(pointer, &info);
  if (known != hipSuccess) return known;
  if (info.type == hipMemoryTypeDevice) return hipErrorInvalidValue;
  const unsigned driver_flags = (flags & kRegisterFlags) | kHostRegisterPortable;
  const hipError_t error =
      context_.run([&] { return driver().mem_host_register(pointer, size, driver_flags); });
  if (error == hipSuccess) {
    pinned_.add({pointer, size, PinnedKind::kRegistered, flags, ordinal_});
  }
  return error;
}

hipError_t CudaDevice::unregister_host(void* pointer) {
  return take_off(pointer, PinnedKind::kRegistered, driver().mem_host_unregister,
                  hipErrorHostMemoryNotRegistered);
}

hipError_t CudaDevice::describe(const void* pointer, PointerInfo* info) {
  *info = PointerInfo{};
  PinnedRange range;
  if (!pinned_.find(pointer, &range)) return describe_device_memory(pointer, info);
  void* address = const_cast<void*>(pointer);
  const bool is_signal = range.kind == PinnedKind::kSignal;
  info->type = is_signal ? hipMemoryTypeDevice : hipMemoryTypeHost;
  info->device = range.device;
  info->base = range.start;
  info->size = range.size;
  info->device_pointer = address;
  info->host_pointer = address;
  info->flags = is_signal ? hipMallocSignalMemory : range.flags;
  return hipSuccess;
}

// Also memory that others in the process got from the driver, or that came from another process.
hipError_t CudaDevice::describe_device_memory(const void* pointer, PointerInfo* info) {
  PointerAnswer answer;
  const Result result = ask(driver(), to_device_ptr(pointer), &answer);
  if (result != kSuccess) return result == kInvalidValue ? hipSuccess : to_hip(result);
  // Reserved addresses without memory: the driver would copy them with the processor.
  if (answer.memory_type == 0) return answer.range_size == 0 ? hipSuccess : hipErrorInvalidValue;
  const bool is_host = answer.memory_type == kMemoryHost && answer.is_managed == 0;
  void* address = const_cast<void*>(pointer);
  info->type = answer.is_managed != 0 ? hipMemoryTypeManaged
               : is_host              ? hipMemoryTypeHost
                                      : hipMemoryTypeDevice;
  info->device = answer.ordinal;
  const bool is_mapping = has_mappings(answer);
  info->base = reinterpret_cast<void*>(is_mapping ? answer.start() : answer.range_start);
  info->size = is_mapping ? answer.end() - answer.start() : answer.range_size;
  info->device_pointer = address;
  info->host_pointer = info->type == hipMemoryTypeDevice ? nullptr : address;
  return hipSuccess;
}

// Only virtual memory has access of its own.
hipError_t CudaDevice::check_value_access(const void* pointer, hipMemAccessFlags access) {
  if (!shared_->virtual_memory.is_mapped(pointer)) return hipSuccess;
  hipMemAccessFlags has = hipMemAccessFlagsProtNone;
  const hipError_t error = shared_->virtual_memory.access_of(pointer, ordinal_, &has);
  if (error != hipSuccess) return error;
  return (has & access) == access ? hipSuccess : hipErrorInvalidValue;
}

// Mappings of one reservation that follow each other, of one device.
void CudaDevice::widen(PointerInfo* info) {
  if (info->type != hipMemoryTypeDevice) return;
  PointerAnswer first;
  DevicePtr start = to_device_ptr(info->base);
  if (ask(driver(), start, &first) != kSuccess || !has_mappings(first)) return;
  const auto belongs = [&](DevicePtr address, PointerAnswer* answer) {
    return address - first.range_start < first.range_size &&
           ask(driver(), address, answer) == kSuccess && answer->memory_type == kMemoryDevice &&
           answer->ordinal == first.ordinal && answer->mapping_size != 0;
  };
  DevicePtr end = start + info->size;
  for (PointerAnswer next; belongs(end, &next);) end = next.end();
  for (PointerAnswer before; belongs(start - 1, &before);) start = before.start();
  info->base = reinterpret_cast<void*>(start);
  info->size = end - start;
}

}  // namespace hip_portable::cuda
