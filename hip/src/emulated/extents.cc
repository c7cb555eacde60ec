// SPDX-License-Identifier: MIT
//
// Best fit; of equal sizes the lowest address, so that memory just freed is used again.

#include "extents.h"

namespace hip_portable::emulated {

void Extents::insert(Extent part) {
  if (part.size == 0) return;
  by_start_.emplace(part.start, part.size);
  by_size_.emplace(part.size, part.start);
}

void Extents::erase(Extent part) {
  by_start_.erase(part.start);
  by_size_.erase({part.size, part.start});
}

Extent Extents::give(Extent part) {
  auto next = by_start_.lower_bound(part.start);
  if (next != by_start_.begin()) {
    const auto before = std::prev(next);
    const Extent left{before->first, before->second};
    if (left.end() == part.start) {
      erase(left);
      part = {left.start, left.size + part.size};
    }
  }
  next = by_start_.lower_bound(part.start);
  if (next != by_start_.end() && next->first == part.end()) {
    const Extent right{next->first, next->second};
    erase(right);
    part.size += right.size;
  }
  insert(part);
  return part;
}

std::optional<TakenExtent> Extents::take(std::size_t size, std::size_t alignment) {
  for (auto at = by_size_.lower_bound({size, 0}); at != by_size_.end(); ++at) {
    const Extent from{at->second, at->first};
    const std::size_t start = (from.start + alignment - 1) & ~(alignment - 1);
    if (start - from.start > from.size - size) continue;
    const Extent taken{start, size};
    erase(from);
    insert({from.start, start - from.start});
    insert({taken.end(), from.end() - taken.end()});
    return TakenExtent{taken, from};
  }
  return std::nullopt;
}

}  // namespace hip_portable::emulated
