// SPDX-License-Identifier: MIT
//
// The free parts of a range of addresses, by place and by size. Knows offsets, not memory.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace hip_portable::emulated {

struct Extent {
  std::size_t start = 0;
  std::size_t size = 0;
  std::size_t end() const { return start + size; }
};

struct TakenExtent {
  Extent taken;
  Extent from;  // the free extent it was cut from
};

class Extents {
 public:
  // Adds a free part and joins it with its neighbours. Returns the joined extent.
  Extent give(Extent part);
  // Takes `size` bytes from the smallest extent that has them at the alignment, a power of two.
  std::optional<TakenExtent> take(std::size_t size, std::size_t alignment);

 private:
  void insert(Extent part);
  void erase(Extent part);

  std::map<std::size_t, std::size_t> by_start_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // size, start
};

}  // namespace hip_portable::emulated
