// SPDX-License-Identifier: MIT
//
// Slots and slabs. The lock is never held while memory is mapped or registered: a thread that grows
// the ring says so in `growing_`, and others then wait for a slot or grow further.
#include "gpu/pinned_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "util/cpu_limits.h"
#include "util/of_this_thread.h"
#include "util/thread_pool.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {
constexpr unsigned kSlotsPerSlab = PinnedRing::kSlabSize / PinnedRing::kSlotSize;
constexpr size_t kMaxSlabs = 4096;  // 32 GiB
}  // namespace

size_t ring_limit(size_t wanted) {
  const size_t left = cgroup_memory_left().value_or(SIZE_MAX);
  return std::min(wanted, left / 4);
}

SlotLease& SlotLease::operator=(SlotLease&& other) noexcept {
  std::swap(ring_, other.ring_);
  std::swap(data_, other.data_);
  return *this;
}

SlotLease::~SlotLease() {
  if (data_ == nullptr) return;
  if (ring_ != nullptr) {
    ring_->give_back(data_);
  } else {
    munmap(data_, PinnedRing::kSlotSize);
  }
}

SlotLease SlotLease::spare() {
  void* memory = mmap(nullptr, PinnedRing::kSlotSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? SlotLease(nullptr, static_cast<char*>(memory)) : SlotLease();
}

PinnedRing::PinnedRing(Gpu& gpu, size_t max_bytes) : gpu_(gpu) { limit(max_bytes, SIZE_MAX); }

void PinnedRing::limit(size_t max_bytes, size_t max_pinned_bytes) {
  const size_t slabs = std::clamp<size_t>(max_bytes / kSlabSize, 1, kMaxSlabs);
  MutexLock lock(mutex_);
  // So that neither growing nor giving back can fail. Slabs above a lower bound may still be there.
  const size_t room = std::max(slabs, slabs_.size() + growing_);
  slabs_.reserve(room);
  free_.reserve(room * kSlotsPerSlab);
  max_slabs_ = static_cast<unsigned>(slabs);
  max_pinned_ = max_pinned_bytes;
  const auto quarter = static_cast<unsigned>(slabs * kSlotsPerSlab / 4);
  slots_per_request_.store(std::max(1u, quarter), std::memory_order_relaxed);
}

size_t PinnedRing::pinned_bytes() const {
  size_t bytes = 0;
  for (const auto& slab : slabs_) bytes += slab->memory.is_pinned() ? slab->memory.size() : 0;
  return bytes;
}

// If so, the slab that is being made counts as pinned until it is there.
bool PinnedRing::may_pin() {
  MutexLock lock(mutex_);
  const size_t taken = pinned_bytes() + pinning_;
  if (taken > max_pinned_ || max_pinned_ - taken < kSlabSize) return false;
  pinning_ += kSlabSize;
  return true;
}

bool PinnedRing::may_grow() const {
  return !is_exhausted_ && slabs_.size() + growing_ < max_slabs_;
}

bool PinnedRing::is_all_cut() const { return cut_ >= slabs_.size() * kSlotsPerSlab; }

char* PinnedRing::take_free(int numa_node) {
  auto chosen = free_.end() - 1;
  for (auto at = free_.begin(); numa_node >= 0 && at != free_.end(); ++at) {
    if (slab_of(*at)->memory.numa_node() == numa_node) chosen = at;
  }
  std::iter_swap(chosen, free_.end() - 1);
  char* data = free_.back();
  free_.pop_back();
  ++slab_of(data)->out;
  return data;
}

PinnedRing::Slab* PinnedRing::slab_of(const char* data) {
  for (const auto& slab : slabs_) {
    const char* begin = slab->memory.data();
    if (data >= begin && data < begin + slab->memory.size()) return slab.get();
  }
  return nullptr;
}

void PinnedRing::grow(int numa_node) {
  std::unique_ptr<Slab> slab(new (std::nothrow) Slab);
  const bool is_pinning = may_pin();
  if (slab) slab->memory = PinnedMemory::allocate(gpu_, kSlabSize, numa_node, is_pinning);
  MutexLock lock(mutex_);
  if (is_pinning) pinning_ -= kSlabSize;
  --growing_;
  if (slab && slab->memory) {
    for (unsigned at = 0; at < kSlotsPerSlab; ++at) {
      free_.push_back(slab->memory.data() + at * kSlotSize);
    }
    slabs_.push_back(std::move(slab));
  } else {
    is_exhausted_ = true;
  }
  change_.notify_all();
}

SlotLease PinnedRing::lease(int numa_node) {
  if (ThreadPool::is_worker()) {
    SlotLease slot = take_or_grow(numa_node, true);
    return slot ? std::move(slot) : SlotLease::spare();
  }
  const WaitMark mark("a slot of the pinned ring");
  mutex_.lock();
  const uint64_t ticket = next_ticket_++;
  char* data = nullptr;
  for (;;) {
    if (ticket == now_serving_ && !free_.empty()) {
      data = take_free(numa_node);
      break;
    }
    if (ticket == now_serving_ && may_grow()) {
      ++growing_;
      mutex_.unlock();
      grow(numa_node);
      mutex_.lock();
      continue;
    }
    if (ticket == now_serving_ && growing_ == 0 && is_all_cut()) break;  // nothing will ever come
    change_.wait(mutex_);
  }
  ++now_serving_;
  mutex_.unlock();
  change_.notify_all();
  return data != nullptr ? SlotLease(this, data) : SlotLease::spare();
}

SlotLease PinnedRing::try_lease(int numa_node) { return take_or_grow(numa_node, false); }

// Who makes a slab needs nobody else for it, and may be waited for.
SlotLease PinnedRing::take_or_grow(int numa_node, bool waits_for_slab) {
  bool must_grow = false;
  {
    MutexLock lock(mutex_);
    while (waits_for_slab && free_.empty() && growing_ != 0) change_.wait(mutex_);
    if (next_ticket_ != now_serving_) return SlotLease();  // others wait for their first
    if (!free_.empty()) return SlotLease(this, take_free(numa_node));
    must_grow = may_grow();
    if (must_grow) ++growing_;
  }
  if (!must_grow) return SlotLease();
  grow(numa_node);
  MutexLock lock(mutex_);
  if (free_.empty() || next_ticket_ != now_serving_) return SlotLease();
  return SlotLease(this, take_free(numa_node));
}

void PinnedRing::give_back(char* data) {
  {
    MutexLock lock(mutex_);
    free_.push_back(data);
    --slab_of(data)->out;
  }
  change_.notify_all();
}

// A ring lives as long as the process (the driver that owns it is leaked). That of a parent is left
// alone: a thread that is not there may hold its lock for ever.
struct PinnedRing::SmallSlotOwner {
  PinnedRing* ring = nullptr;
  char* data = nullptr;
  ~SmallSlotOwner() { let_go(); }
  void let_go() {
    if (data != nullptr && !ring->fork_guard_.in_child_of_fork()) ring->give_back_small(data);
    data = nullptr;
  }
};

char* PinnedRing::small_slot() {
  auto& owner = of_this_thread<SmallSlotOwner>();
  if (owner.ring == this && owner.data != nullptr) return owner.data;
  owner.let_go();
  owner.ring = this;
  owner.data = take_small();
  return owner.data;
}

// Half of the ring at most is cut into small slots, which are never joined again: the other half is
// for large requests.
char* PinnedRing::take_small() {
  bool may_cut = false;
  {
    MutexLock lock(mutex_);
    if (!free_small_.empty()) return pop_small();
    may_cut = cut_ < max_slabs_ * kSlotsPerSlab / 2;
    if (may_cut) ++cut_;
  }
  SlotLease whole = may_cut ? lease() : SlotLease::spare();
  MutexLock lock(mutex_);
  if (!whole) {
    if (may_cut) --cut_;
    return nullptr;
  }
  constexpr size_t kCount = kSlotSize / kSmallSlotSize;
  free_small_.reserve(small_made_ + kCount);
  small_made_ += kCount;
  char* begin = whole.release();
  for (size_t at = 0; at < kCount; ++at) free_small_.push_back(begin + at * kSmallSlotSize);
  return pop_small();
}

char* PinnedRing::pop_small() {
  char* data = free_small_.back();
  free_small_.pop_back();
  return data;
}

void PinnedRing::give_back_small(char* data) {
  MutexLock lock(mutex_);
  free_small_.push_back(data);
}

void PinnedRing::trim() {
  std::vector<std::unique_ptr<Slab>> unused;
  {
    MutexLock lock(mutex_);
    for (auto& slab : slabs_) {
      if (slab->out == 0) unused.push_back(std::move(slab));
    }
    slabs_.erase(std::remove(slabs_.begin(), slabs_.end(), nullptr), slabs_.end());
    for (const auto& slab : unused) {
      const char* begin = slab->memory.data();
      free_.erase(std::remove_if(free_.begin(), free_.end(),
                                 [begin](const char* data) {
                                   return data >= begin && data < begin + kSlabSize;
                                 }),
                  free_.end());
    }
    is_exhausted_ = false;
  }
}

size_t PinnedRing::size() const {
  MutexLock lock(mutex_);
  return slabs_.size() * kSlabSize;
}

size_t PinnedRing::pinned_size() const {
  MutexLock lock(mutex_);
  return pinned_bytes();
}

}  // namespace hipfile
