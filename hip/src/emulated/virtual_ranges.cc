// SPDX-License-Identifier: MIT
//
// Reservations, memory and mappings. What the runtime asks about pointers is in virtual_lookup.cc.

#include "virtual_ranges.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "address_space.h"

namespace hip_portable::emulated {
namespace {

// Keeps the handles apart from those of streams and events.
constexpr std::uintptr_t kHandleTag = 0xa0;

std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void* offset(void* pointer, std::ptrdiff_t distance) {
  return static_cast<std::byte*>(pointer) + distance;
}

int protection_of(hipMemAccessFlags access) {
  if (access == hipMemAccessFlagsProtNone) return PROT_NONE;
  return access == hipMemAccessFlagsProtRead ? PROT_READ : PROT_READ | PROT_WRITE;
}

}  // namespace

void VirtualRanges::start(int devices, bool is_strict) {
  devices_ = devices;
  is_strict_ = is_strict;
}

hipError_t VirtualRanges::reserve(std::size_t size, std::size_t alignment, void* wish,
                                  void** pointer) {
  alignment = std::max(alignment, granularity());
  void* program = nullptr;
  if (wish != nullptr && number_of(wish) % alignment == 0) {
    program = reserve_addresses_at(wish, size);
  }
  if (program == nullptr) program = reserve_addresses(size, alignment);
  void* working = reserve_addresses(size, granularity());
  if (program == nullptr || working == nullptr) {
    drop_addresses(program, size);
    drop_addresses(working, size);
    return hipErrorOutOfMemory;
  }
  const std::ptrdiff_t distance =
      static_cast<std::byte*>(working) - static_cast<std::byte*>(program);
  const MutexLock lock(mutex_);
  reservations_.emplace(number_of(program), Reservation{size, distance, {}});
  reserved_.fetch_add(1, std::memory_order_release);
  *pointer = program;
  return hipSuccess;
}

hipError_t VirtualRanges::unreserve(void* pointer, std::size_t size) {
  const MutexLock lock(mutex_);
  const auto found = reservations_.find(number_of(pointer));
  if (found == reservations_.end() || found->second.size != size) return hipErrorInvalidValue;
  if (!found->second.mappings.empty()) return hipErrorInvalidValue;
  drop_addresses(offset(pointer, found->second.distance), size);
  drop_addresses(pointer, size);
  reservations_.erase(found);
  reserved_.fetch_sub(1, std::memory_order_release);
  return hipSuccess;
}

hipError_t VirtualRanges::create(int device, std::size_t size, MemoryHandle* handle) {
  const MutexLock lock(mutex_);
  const std::optional<Block> block = memory_.take(device, size, 0);
  if (!block) return hipErrorOutOfMemory;
  const std::uintptr_t number = (++last_handle_ << 8) | kHandleTag;
  memories_.emplace(number, Memory{*block});
  *handle = reinterpret_cast<MemoryHandle>(number);
  return hipSuccess;
}

hipError_t VirtualRanges::release(MemoryHandle handle) {
  const MutexLock lock(mutex_);
  const auto found = memories_.find(number_of(handle));
  if (found == memories_.end() || found->second.references == 0) return hipErrorInvalidValue;
  --found->second.references;
  drop_if_unused(found->first);
  return hipSuccess;
}

hipError_t VirtualRanges::retain(const void* pointer, MemoryHandle* handle) {
  const MutexLock lock(mutex_);
  Found found;
  if (!find(pointer, &found)) return hipErrorInvalidValue;
  ++memories_.at(found.mapping->second.handle).references;
  *handle = reinterpret_cast<MemoryHandle>(found.mapping->second.handle);
  return hipSuccess;
}

hipError_t VirtualRanges::device_of(MemoryHandle handle, int* device) {
  const MutexLock lock(mutex_);
  const auto found = memories_.find(number_of(handle));
  if (found == memories_.end() || found->second.references == 0) return hipErrorInvalidValue;
  *device = found->second.block.device;
  return hipSuccess;
}

void VirtualRanges::drop_if_unused(std::uintptr_t handle) {
  const auto found = memories_.find(handle);
  if (found->second.references != 0 || found->second.mappings != 0) return;
  memory_.give_back(found->second.block);
  memories_.erase(found);
}

// The program's view opens when a device gets access: set_access.
bool VirtualRanges::show(const Block& block, std::size_t size, void* pointer,
                         std::ptrdiff_t distance) {
  return memory_.show(block, size, pointer) && ::mprotect(pointer, size, PROT_NONE) == 0 &&
         memory_.show(block, size, offset(pointer, distance));
}

bool VirtualRanges::hide(void* pointer, std::size_t size, std::ptrdiff_t distance) {
  const bool is_hidden = clear_addresses(pointer, size);
  return clear_addresses(offset(pointer, distance), size) && is_hidden;
}

hipError_t VirtualRanges::map(void* pointer, std::size_t size, MemoryHandle handle) {
  const MutexLock lock(mutex_);
  const std::uintptr_t start = number_of(pointer);
  Reservation* const reservation = reservation_of(start, size);
  const auto memory = memories_.find(number_of(handle));
  if (reservation == nullptr || memory == memories_.end()) return hipErrorInvalidValue;
  if (memory->second.references == 0 || size > memory->second.block.size) {
    return hipErrorInvalidValue;
  }
  Mappings& mappings = reservation->mappings;
  const auto next = mappings.lower_bound(start);
  if (next != mappings.end() && next->first < start + size) return hipErrorInvalidValue;
  if (next != mappings.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.size > start) return hipErrorInvalidValue;
  }
  Mapping mapping{size, memory->first, {}, false};
  mapping.access.resize(static_cast<std::size_t>(devices_), hipMemAccessFlagsProtNone);
  if (!show(memory->second.block, size, pointer, reservation->distance)) {
    (void)hide(pointer, size, reservation->distance);
    return hipErrorOutOfMemory;
  }
  mappings.emplace(start, std::move(mapping));
  ++memory->second.mappings;
  return hipSuccess;
}

void VirtualRanges::wait_for_devices() {
  for (int device = 0; device < devices_; ++device) scheduler_.wait_for_device(device);
}

hipError_t VirtualRanges::unmap(void* pointer, std::size_t size) {
  {
    const MutexLock lock(mutex_);
    const std::vector<Mappings::iterator> parts = whole_mappings(pointer, size);
    if (parts.empty()) return hipErrorInvalidValue;
    for (const Mappings::iterator& part : parts) part->second.is_leaving = true;
  }
  wait_for_devices();
  const MutexLock lock(mutex_);
  // A reservation with mappings stays, and nobody else touches those that leave.
  Reservation& reservation = *reservation_of(number_of(pointer), size);
  const bool is_hidden = hide(pointer, size, reservation.distance);
  const auto begin = reservation.mappings.find(number_of(pointer));
  const auto end = reservation.mappings.lower_bound(number_of(pointer) + size);
  if (!is_hidden) {
    for (auto part = begin; part != end; ++part) part->second.is_leaving = false;
    return hipErrorUnmapFailed;
  }
  std::vector<std::uintptr_t> handles;
  for (auto part = begin; part != end; ++part) handles.push_back(part->second.handle);
  reservation.mappings.erase(begin, end);
  for (const std::uintptr_t handle : handles) {
    --memories_.at(handle).mappings;
    drop_if_unused(handle);
  }
  return hipSuccess;
}

// The program's view is as open as any device's access; in strict mode it stays closed.
bool VirtualRanges::protect(std::uintptr_t address, const Mapping& mapping) {
  if (is_strict_) return true;
  const auto most = std::max_element(mapping.access.begin(), mapping.access.end());
  return ::mprotect(reinterpret_cast<void*>(address), mapping.size, protection_of(*most)) == 0;
}

hipError_t VirtualRanges::set_access(void* pointer, std::size_t size, int device,
                                     hipMemAccessFlags access) {
  const MutexLock lock(mutex_);
  const std::vector<Mappings::iterator> parts = whole_mappings(pointer, size);
  if (parts.empty()) return hipErrorInvalidValue;
  for (const Mappings::iterator& part : parts) {
    part->second.access[static_cast<std::size_t>(device)] = access;
    if (!protect(part->first, part->second)) return hipErrorOutOfMemory;
  }
  return hipSuccess;
}

void VirtualRanges::reset(int device) {
  const MutexLock lock(mutex_);
  for (auto& [address, reservation] : reservations_) {
    for (auto at = reservation.mappings.begin(); at != reservation.mappings.end();) {
      Memory& memory = memories_.at(at->second.handle);
      const bool goes =
          memory.block.device == device && !at->second.is_leaving &&
          hide(reinterpret_cast<void*>(at->first), at->second.size, reservation.distance);
      if (goes) --memory.mappings;
      at = goes ? reservation.mappings.erase(at) : std::next(at);
    }
  }
  for (auto at = memories_.begin(); at != memories_.end();) {
    const auto next = std::next(at);
    if (at->second.block.device == device) {
      at->second.references = 0;
      drop_if_unused(at->first);
    }
    at = next;
  }
}

}  // namespace hip_portable::emulated
