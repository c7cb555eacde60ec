// SPDX-License-Identifier: MIT
//
// The pinned ring: the host memory through which bytes bounce, kept for the life of the driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/pinned_memory.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace hipfile {

class PinnedRing;

/// A slot of the ring, until it is dropped.
class SlotLease {
 public:
  SlotLease() = default;
  SlotLease(PinnedRing* ring, char* data) : ring_(ring), data_(data) {}
  /// Memory of no ring, pageable; empty if there is none.
  static SlotLease spare();
  /// Keep the slot for good: it is not given back.
  char* release() { return std::exchange(data_, nullptr); }
  SlotLease(SlotLease&& other) noexcept { *this = static_cast<SlotLease&&>(other); }
  SlotLease& operator=(SlotLease&& other) noexcept;
  ~SlotLease();
  char* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  PinnedRing* ring_ = nullptr;  // NULL: spare memory
  char* data_ = nullptr;
};

/// Thread-safe. Slots are granted in the order in which they were asked for, and no request holds
/// more than a quarter of the ring, so that a large one cannot starve the others (rule 31). Grows
/// in slabs of two slots, on the thread that asks; gives memory back only in trim().
class PinnedRing {
 public:
  static constexpr size_t kSlotSize = 4 << 20;  ///< bytes
  static constexpr size_t kSlabSize = 2 * kSlotSize;
  static constexpr size_t kMaxRing = 256 << 20;  ///< by default
  /// A small slot holds 64 KiB and a block on either side, for reads that are aligned outwards.
  static constexpr size_t kSmallSlotSize = (64 << 10) + 2 * 4096;

  /// @param max_bytes the bound; at least one slab
  PinnedRing(Gpu& gpu, size_t max_bytes);
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  /// New bounds, of all slabs and of those that are pinned; beyond the latter slabs stay pageable.
  /// What is there already stays until trim().
  void limit(size_t max_bytes, size_t max_pinned_bytes);

  /// Slots that one request may hold.
  unsigned slots_per_request() const { return slots_per_request_.load(std::memory_order_relaxed); }

  /// The first slot of a request: waits asleep for its turn. Empty if memory is exhausted. A thread
  /// of a pool never waits, but gets spare memory: who holds the slots may need it (rule 31). So
  /// does everybody where no slot will ever come.
  /// @param numa_node  where it should lie, if there is a choice; -1 for no matter
  SlotLease lease(int numa_node = -1);
  /// A further slot: one that is free or can be had by growing, and empty rather than waiting.
  SlotLease try_lease(int numa_node = -1);

  /// The small slot of the calling thread, kSmallSlotSize bytes; NULL if memory is exhausted. Kept
  /// until the thread ends: no lock after the first call.
  char* small_slot();

  /// Give back the slabs of which no slot is out. Called when the driver closes: unregistering
  /// memory waits for all work on the device, and must not happen while I/O is in flight.
  void trim();

  /// Bytes of slabs, and how many of them are pinned.
  size_t size() const;
  size_t pinned_size() const;

 private:
  friend class SlotLease;
  struct SmallSlotOwner;
  struct Slab {
    PinnedMemory memory;
    unsigned out = 0;  // slots not free
  };

  SlotLease take_or_grow(int numa_node, bool waits_for_slab);
  void give_back(char* data);
  void give_back_small(char* data);
  char* take_small();
  char* pop_small() HIPFILE_REQUIRES(mutex_);
  bool may_grow() const HIPFILE_REQUIRES(mutex_);
  /// No slot of the ring is, or will be, a whole one.
  bool is_all_cut() const HIPFILE_REQUIRES(mutex_);
  char* take_free(int numa_node) HIPFILE_REQUIRES(mutex_);
  Slab* slab_of(const char* data) HIPFILE_REQUIRES(mutex_);
  bool may_pin() HIPFILE_EXCLUDES(mutex_);
  size_t pinned_bytes() const HIPFILE_REQUIRES(mutex_);
  /// Adds a slab, or lowers the bound to what there is. Called without the lock.
  void grow(int numa_node);

  Gpu& gpu_;
  const ForkGuard fork_guard_;
  std::atomic<unsigned> slots_per_request_{1};
  mutable Mutex mutex_;
  unsigned max_slabs_ HIPFILE_GUARDED_BY(mutex_) = 1;
  size_t max_pinned_ HIPFILE_GUARDED_BY(mutex_) = SIZE_MAX;
  size_t pinning_ HIPFILE_GUARDED_BY(mutex_) = 0;  // bytes of slabs that are being made
  CondVar change_;
  std::vector<std::unique_ptr<Slab>> slabs_ HIPFILE_GUARDED_BY(mutex_);
  std::vector<char*> free_ HIPFILE_GUARDED_BY(mutex_);
  size_t small_made_ HIPFILE_GUARDED_BY(mutex_) = 0;
  unsigned cut_ HIPFILE_GUARDED_BY(mutex_) = 0;  // slots, into small ones
  std::vector<char*> free_small_ HIPFILE_GUARDED_BY(mutex_);
  unsigned growing_ HIPFILE_GUARDED_BY(mutex_) = 0;
  bool is_exhausted_ HIPFILE_GUARDED_BY(mutex_) = false;
  uint64_t next_ticket_ HIPFILE_GUARDED_BY(mutex_) = 0;
  uint64_t now_serving_ HIPFILE_GUARDED_BY(mutex_) = 0;
};

/// The bound of the ring here: what is wanted, or a quarter of what the memory cgroup leaves.
size_t ring_limit(size_t wanted = PinnedRing::kMaxRing);

}  // namespace hipfile
