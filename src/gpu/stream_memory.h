// SPDX-License-Identifier: MIT
//
// The pinned memory of operations in the program's streams: gates, at which a stream waits, and
// lanes, through which its bytes pass.
#pragma once

#include <hip/hip_portable.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/pinned_memory.h"
#include "gpu/user_stream.h"
#include "util/mutex.h"

namespace hipfile {

/// One place in a stream where it waits for the library: a late-bound copy, and the two words
/// around it. A cache line, since both sides write it.
struct alignas(64) StreamGate {
  hipPortableIndirectCopy_t copy;
  uint64_t copied;  // 1: the copy is done; stored by the stream
  uint32_t ready;   // 1: the stream may go on; stored by the library

  bool is_open() { return std::atomic_ref(ready).load(std::memory_order_relaxed) != 0; }
  /// What was written before is seen by the stream.
  void open() { std::atomic_ref(ready).store(1, std::memory_order_release); }
  bool was_copied() { return std::atomic_ref(copied).load(std::memory_order_acquire) != 0; }
};

/// What tells streams apart: the null stream is one for each device, and hipStreamPerThread one for
/// each thread.
struct StreamKey {
  hipStream_t stream = nullptr;
  int device = 0;
  uint64_t thread = 0;
  bool operator==(const StreamKey& other) const {
    return stream == other.stream && device == other.device && thread == other.thread;
  }
};
StreamKey key_of(const UserStream& stream);

/// Staging of one stream. Its operations use it one after the other, as they run; those of another
/// stream never do, so that none waits for what another holds.
class StagingLane {
 public:
  char* data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }

 private:
  friend class StreamMemory;
  PinnedMemory memory_;
  StreamKey owner_;     // while it has users
  unsigned users_ = 0;  // operations queued
};

/// Thread-safe. The lock is never held while memory is mapped or registered, so a host function of
/// a stream may take it.
class StreamMemory {
 public:
  /// @param budget bytes: lanes beyond it are small
  StreamMemory(Gpu& gpu, size_t budget) : gpu_(gpu), budget_(budget) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// Bytes of the lanes that are made from now on.
  void set_lane_size(size_t bytes);
  /// The lane of a stream, `least` bytes or more; NULL if memory is exhausted. Registers memory if
  /// there is none: on the program's thread, which may; what is queued already needs no such call.
  StagingLane* lease_lane(const UserStream& stream, size_t least);
  void give_back(StagingLane* lane);

  /// `count` gates side by side, all zero; NULL if memory is exhausted.
  StreamGate* take_gates(size_t count);
  void give_back(StreamGate* gates, size_t count);

  /// Gives back what no operation uses. Unregistering waits for all work on the device: only while
  /// nothing is queued.
  void trim();
  /// Bytes of lanes.
  size_t size() const;

 private:
  static constexpr size_t kSlabSize = 2 << 20;
  static constexpr size_t kSmallLane = 2 << 20;
  static constexpr size_t kLargestLane = 1 << 30;
  static constexpr unsigned kClasses = 16;  // blocks of 2^n gates

  size_t next_lane_size() const;
  StagingLane* find_lane(const StreamKey& stream, size_t least) HIPFILE_REQUIRES(mutex_);
  std::unique_ptr<StagingLane> make_lane(const UserStream& stream, size_t least);
  StreamGate* pop_gates(unsigned size_class) HIPFILE_REQUIRES(mutex_);
  static unsigned class_of(size_t count);

  Gpu& gpu_;
  const size_t budget_;
  mutable Mutex mutex_;
  size_t lane_size_ HIPFILE_GUARDED_BY(mutex_) = 16 << 20;
  std::vector<std::unique_ptr<StagingLane>> lanes_ HIPFILE_GUARDED_BY(mutex_);
  std::vector<PinnedMemory> slabs_ HIPFILE_GUARDED_BY(mutex_);
  size_t slab_used_ HIPFILE_GUARDED_BY(mutex_) = kSlabSize;  // of the last slab, bytes
  std::vector<StreamGate*> free_gates_[kClasses] HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
