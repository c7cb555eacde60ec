// SPDX-License-Identifier: MIT
//
// The index of host memory known to the runtime, and the mappings behind what it allocates.

#include "host_ranges.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "memory_limits.h"

namespace hip_portable::emulated {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, from Linux 5.14
constexpr std::size_t kPage = 4096;

// Pinned memory is there at once, so a limit is asked before and not met by being killed.
bool fits(std::size_t size) { return size <= available_memory() / 2; }

void* map_pages(HostKind kind, std::size_t size) {
  void* start =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  (void)::madvise(start, size, MADV_HUGEPAGE);
  // As with the drivers: a child has no device memory, pinned memory included. Else a write of
  // the parent during direct I/O would go to a copy.
  (void)::madvise(start, size, MADV_DONTFORK);
  if (kind == HostKind::kPinned) (void)::madvise(start, size, kPopulateWrite);
  return start;
}

// Every page must be mapped; whether it may be written is the program's affair. By mincore, of
// which only the error counts: valgrind takes msync for an access to the bytes around the range.
bool is_mapped(const void* pointer, std::size_t size) {
  constexpr std::size_t kWindow = 1024 * kPage;
  unsigned char residency[kWindow / kPage];
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(pointer) + size;
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(pointer) & ~(kPage - 1);
  while (at < end) {
    const std::size_t length = std::min<std::size_t>(end - at, kWindow);
    if (::mincore(reinterpret_cast<void*>(at), length, residency) != 0 && errno == ENOMEM) {
      return false;
    }
    at += length;
  }
  return true;
}

}  // namespace

void* HostRanges::allocate(HostKind kind, std::size_t size, int device, unsigned flags) {
  if (size > SIZE_MAX - kPage || !fits(size)) return nullptr;
  const std::size_t mapped = (size + kPage - 1) & ~(kPage - 1);
  void* pointer = map_pages(kind, mapped);
  if (pointer == nullptr) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  const MutexLock lock(mutex_);
  // A range that the program unmapped without unregistering it may still stand here.
  ranges_.insert_or_assign(start, HostRange{start, size, mapped, kind, device, flags});
  return pointer;
}

hipError_t HostRanges::add(void* pointer, std::size_t size, int device, unsigned flags) {
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (size > UINTPTR_MAX - start || !is_mapped(pointer, size)) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const auto next = ranges_.lower_bound(start);
  if (next != ranges_.end() && next->first < start + size) {
    return hipErrorHostMemoryAlreadyRegistered;
  }
  if (next != ranges_.begin()) {
    const HostRange& before = std::prev(next)->second;
    if (before.start + before.size > start) return hipErrorHostMemoryAlreadyRegistered;
  }
  ranges_.emplace(start, HostRange{start, size, 0, HostKind::kRegistered, device, flags});
  return hipSuccess;
}

std::optional<HostRange> HostRanges::find(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const MutexLock lock(mutex_);
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return std::nullopt;
  const HostRange& range = std::prev(after)->second;
  if (address - range.start >= range.size) return std::nullopt;
  return range;
}

bool HostRanges::is_start_of(const void* pointer, HostKind kind) const {
  const std::optional<HostRange> range = find(pointer);
  return range && range->kind == kind && range->start == reinterpret_cast<std::uintptr_t>(pointer);
}

std::optional<HostRange> HostRanges::remove(const void* pointer, HostKind kind) {
  const MutexLock lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == ranges_.end() || found->second.kind != kind) return std::nullopt;
  const HostRange range = found->second;
  ranges_.erase(found);
  return range;
}

std::vector<HostRange> HostRanges::remove_all(int device) {
  std::vector<HostRange> removed;
  const MutexLock lock(mutex_);
  for (auto at = ranges_.begin(); at != ranges_.end();) {
    if (at->second.device == device) removed.push_back(at->second);
    at = at->second.device == device ? ranges_.erase(at) : std::next(at);
  }
  return removed;
}

void HostRanges::unmap(const HostRange& range) {
  if (range.mapped != 0) (void)::munmap(reinterpret_cast<void*>(range.start), range.mapped);
}

}  // namespace hip_portable::emulated
