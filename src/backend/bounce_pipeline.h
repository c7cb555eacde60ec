// SPDX-License-Identifier: MIT
//
// Storage and copy engine at work at the same time, inside one request: several chunks in flight,
// each in a slot of the ring.
#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "backend/backend.h"
#include "backend/progress.h"
#include "engine/engine.h"
#include "gpu/gpu.h"
#include "gpu/pinned_ring.h"

namespace hipfile {

/// Large reads of a backend that run at this moment, and the slots that they share. Fewer bytes in
/// flight stay in the processor's cache between the storage and the copy engine, so that many
/// callers together take little more than one alone. Thread-safe.
class ReaderCrowd {
 public:
  /// One of them, while it lives.
  class Member {
   public:
    explicit Member(ReaderCrowd& crowd) : crowd_(crowd) { crowd_.members_.fetch_add(1); }
    ~Member() { crowd_.members_.fetch_sub(1); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    /// Slots that one member may hold now: one at least.
    unsigned share() const;

   private:
    ReaderCrowd& crowd_;
  };

 private:
  std::atomic<unsigned> members_{0};
};

/// What a pipeline works with; all of it the caller's, for the time of the call.
struct PipelineParts {
  Gpu& gpu;
  PinnedRing& ring;
  IoQueue& queue;
  CopyStream& stream;
  int fd;            ///< the view
  size_t alignment;  ///< of file offsets and sizes on that view; 1 on the buffered one
  size_t chunk_size;
  unsigned max_slots;                          ///< that the request may hold
  const ReaderCrowd::Member* crowd = nullptr;  ///< of a read: who else needs slots
};

/// File to device. Ranges off the alignment are read aligned outwards, and the wanted part copied.
Outcome read_pipeline(const Request& request, const PipelineParts& parts);

/// Device to file. On a direct view the request is aligned.
Outcome write_pipeline(const Request& request, const PipelineParts& parts);

/// The size of a chunk for a request: small enough that storage and copy overlap, 4 MiB at most,
/// and what the largest system call and the request's share of the ring allow; but a block of the
/// view's alignment.
size_t chunk_size_for(const Request& request, size_t alignment);

/// The slots that one request holds, and what becomes of each: free, with the engine, or on the
/// stream. Used by one thread.
class ChunkSlots {
 public:
  ChunkSlots(PinnedRing& ring, int numa_node) : ring_(ring), numa_node_(numa_node) {}

  /// The index of a free slot, leasing another from the ring up to `most`; -1 if there is none.
  /// Free slots above `most`, at least 1, go back to the ring.
  int take(unsigned most);
  void give_back(int index) { free_.push_back(index); }
  char* data(int index) const { return slots_[static_cast<size_t>(index)].data(); }
  unsigned count() const { return held_; }

 private:
  bool lease_another();

  PinnedRing& ring_;
  const int numa_node_;           // of the device
  std::vector<SlotLease> slots_;  // by index; those that went back are empty
  std::vector<int> free_;
  std::vector<int> given_up_;  // indices of empty ones
  unsigned held_ = 0;
};

/// What both directions keep: the slots of one request, those on the stream, the count. A direction
/// is a class on top of it with a loop of its own. Used by one thread.
class ChunkPipeline {
 public:
  ChunkPipeline(const ChunkPipeline&) = delete;
  ChunkPipeline& operator=(const ChunkPipeline&) = delete;

 protected:
  ChunkPipeline(const Request& request, const PipelineParts& parts);
  /// Nothing may be in flight when the slots go back, whichever way the loop was left.
  ~ChunkPipeline();

  /// Queue a copy, and mark its end with the slot's event unless a later one will be marked. On
  /// failure the slot stays out, since the copy may have begun.
  Status copy(int index, void* to, const void* from, size_t size, hipMemcpyKind kind,
              bool is_marked = true);
  /// Give back the slots of copies that have ended.
  void take_back_copied();
  /// Wait for the copies up to the first mark, and give their slots back. On failure they stay out
  /// until the stream was synchronised.
  Status wait_for_oldest();
  /// The end of the request: waits for the stream. A copy that failed makes every count doubtful,
  /// so its error is the outcome.
  Outcome finish();

  const Request& request_;
  const PipelineParts& parts_;
  const size_t chunk_size_;
  off_t next_;  ///< file offset of the next chunk
  ChunkSlots slots_;
  struct Copying {
    int index = 0;
    bool is_marked = false;
  };
  std::deque<Copying> copying_;  ///< slots on the stream, oldest first
  unsigned in_flight_ = 0;       ///< operations with the engine
  bool is_finished_ = false;
  Progress progress_;

 private:
  std::deque<Copying>::iterator first_mark();
};

}  // namespace hipfile
