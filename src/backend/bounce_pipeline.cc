// SPDX-License-Identifier: MIT
//
// What the two directions share.
#include "backend/bounce_pipeline.h"

#include <algorithm>
#include <utility>

#include "util/arith.h"

namespace hipfile {
namespace {
constexpr size_t kSmallestChunk = 256 << 10;
constexpr size_t kChunksWanted = 8;
}  // namespace

size_t chunk_size_for(size_t request_size) {
  const size_t wanted = align_up(request_size / kChunksWanted, kSmallestChunk);
  return std::clamp(wanted, kSmallestChunk, PinnedRing::kSlotSize);
}

int ChunkSlots::take() {
  if (free_.empty() && slots_.size() < ring_.slots_per_request()) {
    SlotLease slot = slots_.empty() ? ring_.lease(numa_node_) : ring_.try_lease(numa_node_);
    if (slot) {
      slots_.push_back(std::move(slot));
      free_.push_back(static_cast<int>(slots_.size()) - 1);
    }
  }
  if (free_.empty()) return -1;
  const int index = free_.back();
  free_.pop_back();
  return index;
}

}  // namespace hipfile
