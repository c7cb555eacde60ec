// SPDX-License-Identifier: MIT
//
// Storage and copy engine at work at the same time, inside one request: several chunks in flight,
// each in a slot of the ring.
#pragma once

#include <deque>
#include <vector>

#include "backend/backend.h"
#include "engine/engine.h"
#include "gpu/gpu.h"
#include "gpu/pinned_ring.h"

namespace hipfile {

/// What a pipeline works with; all of it the caller's, for the time of the call.
struct PipelineParts {
  Gpu& gpu;
  PinnedRing& ring;
  IoQueue& queue;
  CopyStream& stream;
  int fd;            ///< the view
  size_t alignment;  ///< of file offsets and sizes on that view; 1 on the buffered one
};

/// File to device. Ranges off the alignment are read aligned outwards, and the wanted part copied.
Outcome read_pipeline(const Request& request, const PipelineParts& parts);

/// Device to file. On a direct view the request is aligned.
Outcome write_pipeline(const Request& request, const PipelineParts& parts);

/// The size of a chunk for a request: small enough that storage and copy overlap, 4 MiB at most.
size_t chunk_size_for(size_t request_size);

/// The slots that one request holds, and what becomes of each: free, with the engine, or on the
/// stream. Used by one thread.
class ChunkSlots {
 public:
  ChunkSlots(PinnedRing& ring, int numa_node) : ring_(ring), numa_node_(numa_node) {}

  /// The index of a free slot, leasing another from the ring if the request may; -1 if there is
  /// none.
  int take();
  void give_back(int index) { free_.push_back(index); }
  char* data(int index) const { return slots_[static_cast<size_t>(index)].data(); }
  bool has_any() const { return !slots_.empty(); }

 private:
  PinnedRing& ring_;
  const int numa_node_;  // of the device
  std::vector<SlotLease> slots_;
  std::vector<int> free_;
};

}  // namespace hipfile
