// SPDX-License-Identifier: MIT
//
// What stands behind a virtual address: for copies, file transfers and questions of the program.

#include <algorithm>
#include <iterator>
#include <utility>

#include "virtual_ranges.h"

namespace hip_portable::emulated {
namespace {

std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

const VirtualRanges::Reservation* VirtualRanges::reservation_of(std::uintptr_t address,
                                                                std::size_t size) const {
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return nullptr;
  const auto& [start, reservation] = *std::prev(after);
  const std::size_t before = address - start;
  const bool is_inside = before < reservation.size && size <= reservation.size - before;
  return is_inside ? &reservation : nullptr;
}

VirtualRanges::Reservation* VirtualRanges::reservation_of(std::uintptr_t address,
                                                          std::size_t size) {
  return const_cast<Reservation*>(
      static_cast<const VirtualRanges*>(this)->reservation_of(address, size));
}

bool VirtualRanges::contains(const void* pointer) const {
  if (reserved_.load(std::memory_order_acquire) == 0) return false;
  const MutexLock lock(mutex_);
  return reservation_of(number_of(pointer), 1) != nullptr;
}

bool VirtualRanges::find(const void* pointer, Found* found) const {
  const std::uintptr_t address = number_of(pointer);
  found->reservation = reservation_of(address, 1);
  if (found->reservation == nullptr) return false;
  const Mappings& mappings = found->reservation->mappings;
  const auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return false;
  found->mapping = std::prev(after);
  const Mapping& mapping = found->mapping->second;
  return address - found->mapping->first < mapping.size && !mapping.is_leaving;
}

std::vector<VirtualRanges::Mappings::iterator> VirtualRanges::whole_mappings(void* pointer,
                                                                             std::size_t size) {
  std::vector<Mappings::iterator> parts;
  std::uintptr_t at = number_of(pointer);
  Reservation* const reservation = reservation_of(at, size);
  if (reservation == nullptr) return {};
  const std::uintptr_t end = at + size;
  while (at < end) {
    const auto part = reservation->mappings.find(at);
    if (part == reservation->mappings.end() || part->second.is_leaving) return {};
    parts.push_back(part);
    at += part->second.size;
  }
  return at == end ? parts : std::vector<Mappings::iterator>{};
}

hipError_t VirtualRanges::describe(const void* pointer, PointerInfo* info) const {
  const MutexLock lock(mutex_);
  Found found;
  if (!find(pointer, &found)) return hipErrorInvalidValue;
  const Mappings& mappings = found.reservation->mappings;
  auto first = found.mapping;
  while (first != mappings.begin()) {
    const auto before = std::prev(first);
    const bool is_next = before->first + before->second.size == first->first;
    if (!is_next || before->second.is_leaving) break;
    first = before;
  }
  std::uintptr_t end = first->first;
  for (auto at = first; at != mappings.end() && at->first == end && !at->second.is_leaving; ++at) {
    end += at->second.size;
  }
  *info = PointerInfo{};
  info->type = hipMemoryTypeDevice;
  info->device = memories_.at(found.mapping->second.handle).block.device;
  info->base = reinterpret_cast<void*>(first->first);
  info->size = end - first->first;
  info->device_pointer = const_cast<void*>(pointer);
  return hipSuccess;
}

hipError_t VirtualRanges::access_of(const void* pointer, int device, hipMemAccessFlags* access) {
  const MutexLock lock(mutex_);
  Found found;
  if (!find(pointer, &found)) return hipErrorInvalidValue;
  *access = found.mapping->second.access[static_cast<std::size_t>(device)];
  return hipSuccess;
}

hipError_t VirtualRanges::check_access(const void* pointer, std::size_t size, int device,
                                       hipMemAccessFlags access) const {
  if (!contains(pointer)) return hipSuccess;
  const MutexLock lock(mutex_);
  const auto* at = static_cast<const std::byte*>(pointer);
  for (std::size_t left = size; left != 0;) {
    Found found;
    if (!find(at, &found)) return hipErrorInvalidValue;
    const Mapping& mapping = found.mapping->second;
    const unsigned has = mapping.access[static_cast<std::size_t>(device)];
    if ((has & access) != static_cast<unsigned>(access)) return hipErrorInvalidValue;
    const std::size_t step = std::min(left, found.mapping->first + mapping.size - number_of(at));
    at += step;
    left -= step;
  }
  return hipSuccess;
}

// Also for mappings that leave: the work that they wait for ends here.
void* VirtualRanges::work_on(const void* pointer, std::size_t size) {
  struct Part {
    Block block;
    std::size_t offset;
    std::size_t size;
  };
  std::vector<Part> parts;
  std::ptrdiff_t distance = 0;
  {
    const MutexLock lock(mutex_);
    const std::uintptr_t start = number_of(pointer);
    const Reservation* const reservation = reservation_of(start, 1);
    if (reservation == nullptr) return const_cast<void*>(pointer);
    distance = reservation->distance;
    auto at = reservation->mappings.upper_bound(start);
    if (at != reservation->mappings.begin()) --at;
    for (; at != reservation->mappings.end() && at->first < start + size; ++at) {
      const std::uintptr_t from = std::max(start, at->first);
      const std::uintptr_t to = std::min(start + size, at->first + at->second.size);
      if (from >= to) continue;
      parts.push_back({memories_.at(at->second.handle).block, from - at->first, to - from});
    }
  }
  for (const Part& part : parts) memory_.touch(part.block, part.offset, part.size);
  return static_cast<std::byte*>(const_cast<void*>(pointer)) + distance;
}

}  // namespace hip_portable::emulated
