// SPDX-License-Identifier: MIT
//
// Each call is one call of the driver. To map and unmap, it is called without the lock, since it
// may wait for a device. HIP's numbers for kinds, places and access are the driver's.

#include "cuda_virtual_memory.h"

#include <algorithm>
#include <iterator>

#include "cuda_errors.h"

namespace hip_portable::cuda {
namespace {

AllocationHandle number_of(MemoryHandle handle) {
  return reinterpret_cast<AllocationHandle>(handle);
}

DevicePtr address_of(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

// What HIP calls invalid has several names here.
hipError_t to_invalid(Result result) {
  const bool is_invalid =
      result == kInvalidValue || result == kNotMapped || result == kAlreadyMapped;
  return is_invalid ? hipErrorInvalidValue : to_hip(result);
}

}  // namespace

void CudaVirtualMemory::add_device(ContextHolder& context) {
  contexts_.push_back(&context);
  const AllocationProperties properties = properties_of(static_cast<int>(contexts_.size()) - 1);
  std::size_t granularity = 0;
  if (driver_.mem_get_granularity(&granularity, &properties, kGranularityMinimum) == kSuccess) {
    granularity_ = std::max(granularity_, granularity);
  }
}

AllocationProperties CudaVirtualMemory::properties_of(int device) const {
  AllocationProperties properties{};
  properties.type = kAllocationPinned;
  properties.location = {kLocationDevice, device};
  return properties;
}

bool CudaVirtualMemory::is_given(MemoryHandle handle) {
  const MutexLock lock(mutex_);
  return references_.count(number_of(handle)) != 0;
}

hipError_t CudaVirtualMemory::reserve(std::size_t size, std::size_t alignment, void* wish,
                                      void** pointer) {
  DevicePtr address = 0;
  const Result result = driver_.mem_address_reserve(&address, size, alignment, address_of(wish), 0);
  // The arguments are right in themselves: an alignment that no address has.
  if (result == kInvalidValue) return hipErrorOutOfMemory;
  if (result != kSuccess) return to_hip(result);
  *pointer = reinterpret_cast<void*>(address);
  const MutexLock lock(mutex_);
  reservations_[address] = size;
  return hipSuccess;
}

// The driver refuses a part, and one in which something is mapped.
hipError_t CudaVirtualMemory::unreserve(void* pointer, std::size_t size) {
  const MutexLock lock(mutex_);
  const auto found = reservations_.find(address_of(pointer));
  if (found == reservations_.end()) return hipErrorInvalidValue;
  const hipError_t error = to_invalid(driver_.mem_address_free(found->first, size));
  if (error == hipSuccess) reservations_.erase(found);
  return error;
}

// In the context of the device, which is there before the memory is.
hipError_t CudaVirtualMemory::create(int device, std::size_t size, MemoryHandle* handle) {
  const AllocationProperties properties = properties_of(device);
  AllocationHandle made = 0;
  const hipError_t error = contexts_[static_cast<std::size_t>(device)]->run(
      [&] { return driver_.mem_create(&made, size, &properties, 0); });
  if (error != hipSuccess) return error;
  const MutexLock lock(mutex_);
  ++references_[made];
  *handle = reinterpret_cast<MemoryHandle>(made);
  return hipSuccess;
}

hipError_t CudaVirtualMemory::release(MemoryHandle handle) {
  {
    const MutexLock lock(mutex_);
    const auto found = references_.find(number_of(handle));
    if (found == references_.end()) return hipErrorInvalidValue;
    if (--found->second == 0) references_.erase(found);
  }
  return to_invalid(driver_.mem_release(number_of(handle)));
}

hipError_t CudaVirtualMemory::retain(const void* pointer, MemoryHandle* handle) {
  AllocationHandle found = 0;
  const Result result = driver_.mem_retain_handle(&found, const_cast<void*>(pointer));
  if (result != kSuccess) return to_invalid(result);
  const MutexLock lock(mutex_);
  ++references_[found];
  *handle = reinterpret_cast<MemoryHandle>(found);
  return hipSuccess;
}

hipError_t CudaVirtualMemory::device_of(MemoryHandle handle, int* device) {
  if (!is_given(handle)) return hipErrorInvalidValue;
  AllocationProperties properties{};
  const Result result = driver_.mem_get_properties(&properties, number_of(handle));
  *device = properties.location.id;
  return to_invalid(result);
}

bool CudaVirtualMemory::claim(DevicePtr start, std::size_t size) {
  const MutexLock lock(mutex_);
  auto reservation = reservations_.upper_bound(start);
  if (reservation == reservations_.begin()) return false;
  --reservation;
  const DevicePtr offset = start - reservation->first;
  if (offset > reservation->second || size > reservation->second - offset) return false;
  const auto next = mappings_.lower_bound(start);
  if (next != mappings_.end() && next->first < start + size) return false;
  if (next != mappings_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second > start) return false;
  }
  mappings_.emplace_hint(next, start, size);
  return true;
}

hipError_t CudaVirtualMemory::map(void* pointer, std::size_t size, MemoryHandle handle) {
  const DevicePtr start = address_of(pointer);
  if (!is_given(handle) || !claim(start, size)) return hipErrorInvalidValue;
  const Result result = driver_.mem_map(start, size, 0, number_of(handle), 0);
  if (result == kSuccess) return hipSuccess;
  const MutexLock lock(mutex_);
  mappings_.erase(start);
  // That it answers where the memory is smaller.
  return result == kNotSupported ? hipErrorInvalidValue : to_invalid(result);
}

hipError_t CudaVirtualMemory::wait_for_devices() {
  for (ContextHolder* const context : contexts_) {
    const hipError_t error = context->synchronize_if_used();
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

CudaVirtualMemory::Ranges CudaVirtualMemory::take_mappings(DevicePtr start, std::size_t size) {
  const MutexLock lock(mutex_);
  const auto first = mappings_.find(start);
  auto last = first;
  DevicePtr end = start;
  for (; last != mappings_.end() && last->first == end && end < start + size; ++last) {
    end += last->second;
  }
  if (end != start + size) return {};
  Ranges taken(first, last);
  mappings_.erase(first, last);
  return taken;
}

void CudaVirtualMemory::put_back(Ranges& taken) {
  const MutexLock lock(mutex_);
  mappings_.merge(taken);
}

// Meanwhile the driver refuses to map or free what still is mapped.
hipError_t CudaVirtualMemory::unmap(void* pointer, std::size_t size) {
  const DevicePtr start = address_of(pointer);
  Ranges taken = take_mappings(start, size);
  if (taken.empty()) return hipErrorInvalidValue;
  hipError_t error = wait_for_devices();
  if (error == hipSuccess) error = to_invalid(driver_.mem_unmap(start, size));
  if (error != hipSuccess) put_back(taken);
  return error;
}

hipError_t CudaVirtualMemory::set_access(void* pointer, std::size_t size, int device,
                                         hipMemAccessFlags access) {
  const AccessDescription description{{kLocationDevice, device}, access};
  return to_invalid(driver_.mem_set_access(address_of(pointer), size, &description, 1));
}

hipError_t CudaVirtualMemory::access_of(const void* pointer, int device,
                                        hipMemAccessFlags* access) {
  const Location location{kLocationDevice, device};
  unsigned long long flags = 0;
  const Result result = driver_.mem_get_access(&flags, &location, address_of(pointer));
  *access = static_cast<hipMemAccessFlags>(flags);
  return to_invalid(result);
}

bool CudaVirtualMemory::is_mapped(const void* pointer) {
  const MutexLock lock(mutex_);
  auto mapping = mappings_.upper_bound(address_of(pointer));
  if (mapping == mappings_.begin()) return false;
  --mapping;
  return address_of(pointer) - mapping->first < mapping->second;
}

}  // namespace hip_portable::cuda
