// SPDX-License-Identifier: MIT
//
// The list of pinned ranges; see the header.

#include "pinned_ranges.h"

#include <iterator>

namespace hip_portable::cuda {

void PinnedRanges::add(const PinnedRange& range) {
  const MutexLock lock(mutex_);
  ranges_[reinterpret_cast<std::uintptr_t>(range.start)] = range;
}

bool PinnedRanges::remove(const void* start, PinnedKind kind, PinnedRange* range) {
  const MutexLock lock(mutex_);
  const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(start));
  if (at == ranges_.end() || at->second.kind != kind) return false;
  *range = at->second;
  ranges_.erase(at);
  return true;
}

void PinnedRanges::remove_all_of(int device) {
  const MutexLock lock(mutex_);
  std::erase_if(ranges_, [device](const auto& entry) { return entry.second.device == device; });
}

bool PinnedRanges::find(const void* address, PinnedRange* range) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const MutexLock lock(mutex_);
  const auto after = ranges_.upper_bound(wanted);
  if (after == ranges_.begin()) return false;
  const PinnedRange& candidate = std::prev(after)->second;
  if (wanted - reinterpret_cast<std::uintptr_t>(candidate.start) >= candidate.size) return false;
  *range = candidate;
  return true;
}

bool PinnedRanges::is_start(const void* address, PinnedKind kind) {
  PinnedRange range;
  return find(address, &range) && range.start == address && range.kind == kind;
}

}  // namespace hip_portable::cuda
