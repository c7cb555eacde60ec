// SPDX-License-Identifier: MIT
//
// Allocation of emulated device memory. System calls are made outside the lock, except for a unit
// or two that the release of a small block frees.

#include "device_memory.h"

#include <algorithm>

namespace hip_portable::emulated {
namespace {

// What is kept of freed memory: 64 MiB, and where memory is scarce a small part of what the devices
// may have, since it comes on top of that.
constexpr std::size_t kMostPooled = std::size_t{64} << 20;
constexpr std::size_t kPooledPart = 8;

constexpr std::size_t kSmallAlignment = 256;
constexpr std::size_t kPage = 4096;  // also what direct file I/O may ask of a pointer

std::size_t alignment_of(std::size_t size) {
  if (size >= DoubleMapping::kAlignment) return DoubleMapping::kAlignment;
  return size >= kPage ? kPage : kSmallAlignment;
}

// Big blocks are aligned to 2 MiB and take whole pages, not whole steps.
std::size_t taken_by(std::size_t size) {
  const std::size_t grain = size >= kPage ? kPage : kSmallAlignment;
  return (size + grain - 1) & ~(grain - 1);
}

std::size_t whole_pages(std::uint64_t size) {
  return static_cast<std::size_t>(size) & ~(kPage - 1);
}

// Twice the limit, so that holes between blocks do not make a device full early.
std::size_t addresses_for(std::uint64_t limit) {
  const std::size_t step = DoubleMapping::kAlignment;
  return (2 * static_cast<std::size_t>(limit) + 2 * step - 1) & ~(step - 1);
}

}  // namespace

bool DeviceMemory::start(int devices, std::uint64_t limit, bool is_strict) {
  const auto count = static_cast<std::size_t>(devices);
  std::size_t slice = addresses_for(limit);
  while (!mapping_.map(count * slice, is_strict)) {
    slice = addresses_for(slice / 8);
    if (slice <= 4 * DoubleMapping::kAlignment) return false;
  }
  limit_ = whole_pages(std::min(static_cast<std::size_t>(limit), slice / 2));
  pool_limit_ = std::min(kMostPooled, count * limit_ / kPooledPart);
  is_strict_ = is_strict;
  residency_ = std::make_unique<Residency>(mapping_);
  const MutexLock lock(mutex_);
  slices_.resize(count);
  for (std::size_t i = 0; i < count; ++i) slices_[i].free.give({i * slice, slice});
  return true;
}

std::size_t DeviceMemory::offset_of(const void* pointer) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - mapping_.program());
}

std::optional<Block> DeviceMemory::take_locked(int device, std::size_t size, unsigned flags) {
  if (size > limit_) return std::nullopt;
  const std::size_t taken = taken_by(size);
  Slice& slice = slices_[static_cast<std::size_t>(device)];
  if (taken > limit_ - slice.used) return std::nullopt;
  const std::optional<TakenExtent> part = slice.free.take(taken, alignment_of(size));
  if (!part) return std::nullopt;
  pooled_ -= residency_->touched(Residency::whole_units(part->taken, part->from));
  slice.used += taken;
  return Block{part->taken, size, device, flags};
}

std::optional<Block> DeviceMemory::take(int device, std::size_t size, unsigned flags) {
  const MutexLock lock(mutex_);
  return take_locked(device, size, flags);
}

void* DeviceMemory::allocate(int device, std::size_t size, unsigned flags) {
  const MutexLock lock(mutex_);
  const std::optional<Block> block = take_locked(device, size, flags);
  if (!block) return nullptr;
  blocks_.emplace(block->place.start, *block);
  return base_of(*block);
}

std::optional<Block> DeviceMemory::find(const void* pointer) const {
  if (!contains(pointer)) return std::nullopt;
  const std::size_t offset = offset_of(pointer);
  const MutexLock lock(mutex_);
  auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (offset - block.place.start >= block.size) return std::nullopt;
  return block;
}

std::optional<Block> DeviceMemory::detach(const void* base) {
  if (!contains(base)) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = blocks_.find(offset_of(base));
  if (found == blocks_.end()) return std::nullopt;
  const Block block = found->second;
  blocks_.erase(found);
  return block;
}

std::vector<Block> DeviceMemory::detach_all(int device) {
  std::vector<Block> detached;
  const MutexLock lock(mutex_);
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    if (at->second.device == device) detached.push_back(at->second);
    at = at->second.device == device ? blocks_.erase(at) : std::next(at);
  }
  return detached;
}

bool DeviceMemory::keep_in_pool(std::size_t bytes) {
  const MutexLock lock(mutex_);
  if (bytes > pool_limit_ - pooled_) return false;
  pooled_ += bytes;
  return true;
}

void DeviceMemory::give_back(const Block& block) {
  const Extent inner = Residency::whole_units(block.place, block.place);
  if (!is_strict_) residency_->discard_untouched(inner);
  if (!keep_in_pool(residency_->touched(inner))) residency_->discard(inner);
  const MutexLock lock(mutex_);
  return_to_slice(block);
}

void DeviceMemory::return_to_slice(const Block& block) {
  Slice& slice = slices_[static_cast<std::size_t>(block.device)];
  slice.used -= block.place.size;
  const Extent joined = slice.free.give(block.place);
  // The units at its ends that it shared with neighbours are whole now if those are free too.
  const Extent inner = Residency::whole_units(block.place, block.place);
  const Extent outer = Residency::whole_units(block.place, joined);
  const std::size_t middle = inner.size != 0 ? inner.start : outer.end();
  const Extent edges[] = {
      {outer.start, middle > outer.start ? middle - outer.start : 0},
      {inner.end(), inner.size != 0 && outer.end() > inner.end() ? outer.end() - inner.end() : 0}};
  for (const Extent& edge : edges) {
    const std::size_t bytes = residency_->touched(edge);
    if (bytes <= pool_limit_ - pooled_) {
      pooled_ += bytes;
    } else {
      residency_->discard(edge);
    }
  }
}

void* DeviceMemory::work_on(const void* pointer, std::size_t size) {
  if (!contains(pointer)) return const_cast<void*>(pointer);
  const std::optional<Block> block = find(pointer);
  // Memory that was freed in stream order is no longer in the index; it is still there.
  const Extent part{offset_of(pointer), size};
  residency_->touch(part, block ? block->place : part);
  return mapping_.working(pointer);
}

void DeviceMemory::touch(const Block& block, std::size_t offset, std::size_t size) {
  residency_->touch({block.place.start + offset, size}, block.place);
}

bool DeviceMemory::show(const Block& block, std::size_t size, void* at) const {
  return mapping_.show(mapping_.program() + block.place.start, size, at);
}

bool DeviceMemory::charge(int device, std::size_t size) {
  const MutexLock lock(mutex_);
  Slice& slice = slices_[static_cast<std::size_t>(device)];
  if (size > limit_ || taken_by(size) > limit_ - slice.used) return false;
  slice.used += taken_by(size);
  return true;
}

void DeviceMemory::discharge(int device, std::size_t size) {
  const MutexLock lock(mutex_);
  slices_[static_cast<std::size_t>(device)].used -= taken_by(size);
}

std::size_t DeviceMemory::left(int device) const {
  const MutexLock lock(mutex_);
  return whole_pages(limit_ - slices_[static_cast<std::size_t>(device)].used);
}

}  // namespace hip_portable::emulated
