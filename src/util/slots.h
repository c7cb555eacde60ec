// SPDX-License-Identifier: MIT
//
// Objects behind handles. A handle is an index, a kind and a generation, so one that is stale or
// of another kind of object is recognised; an
// object in use is pinned, without a lock and without a write to shared memory, and freed by
// whoever lets go of it last. What is queued for later outlives the call that queued it: it holds
// its objects by a count instead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "util/mutex.h"
#include "util/thread_pins.h"

namespace hipfile {

template <class T>
class SlotArray;
template <class T>
class Pin;

/// Keeps one object alive across calls and threads. Copies nothing and waits for nothing: the end
/// of the handle is not delayed by it, only the object's. Empty if the pin it was made of was.
template <class T>
class Hold {
 public:
  Hold() = default;
  Hold(Hold&& other) noexcept { *this = std::move(other); }
  Hold& operator=(Hold&& other) noexcept {
    std::swap(array_, other.array_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Hold() {
    if (array_ != nullptr) array_->let_go(slot_);
  }

  explicit operator bool() const { return array_ != nullptr; }
  T* get() const { return slot_->object; }
  T* operator->() const { return slot_->object; }
  T& operator*() const { return *slot_->object; }

 private:
  friend class Pin<T>;
  SlotArray<T>* array_ = nullptr;
  typename SlotArray<T>::Slot* slot_ = nullptr;
};

/// Keeps one object alive. Empty if the handle was unknown. Used and dropped by one thread.
template <class T>
class Pin {
 public:
  Pin() = default;
  Pin(Pin&& other) noexcept { *this = std::move(other); }
  Pin& operator=(Pin&& other) noexcept {
    std::swap(array_, other.array_);
    std::swap(slot_, other.slot_);
    std::swap(place_, other.place_);
    return *this;
  }
  ~Pin() {
    if (array_ != nullptr) array_->unpin(slot_, place_);
  }

  explicit operator bool() const { return array_ != nullptr; }
  T* get() const { return slot_->object; }
  T* operator->() const { return slot_->object; }
  T& operator*() const { return *slot_->object; }

  /// For what goes on after this pin is dropped. Writes a shared count: not for the synchronous
  /// path.
  Hold<T> hold() const {
    Hold<T> held;
    if (array_ == nullptr) return held;
    slot_->holds.fetch_add(1, std::memory_order_seq_cst);
    held.array_ = array_;
    held.slot_ = slot_;
    return held;
  }

 private:
  friend class SlotArray<T>;
  SlotArray<T>* array_ = nullptr;
  typename SlotArray<T>::Slot* slot_ = nullptr;
  std::atomic<const void*>* place_ = nullptr;
};

/// Thread-safe. Pinning protocol (each step sequentially consistent): a pinner stores the slot in
/// its record and then looks at the slot's state; a retirer sets the state to dying and then looks
/// at the records. So at least one of them sees the other, and whoever unpins a dying slot frees
/// it.
template <class T>
class SlotArray {
 public:
  enum class Retired { kDone, kUnknown, kInUse };

  /// @param kind             of the objects, so that two arrays tell their handles apart
  /// @param first_generation where generations begin, so that two processes do
  SlotArray(uint8_t kind, uint32_t first_generation)
      : kind_(uint64_t{kind} << kKindShift), first_generation_(first_generation) {}
  SlotArray(const SlotArray&) = delete;
  SlotArray& operator=(const SlotArray&) = delete;
  ~SlotArray();

  /// The handle (never 0) of a new object, or 0 when a million objects are live.
  uint64_t insert(std::unique_ptr<T> object);

  /// The object of a handle, or an empty pin.
  Pin<T> pin(uint64_t handle);

  /// End a handle. The object is destroyed now, or by the thread that unpins it last.
  Retired retire(uint64_t handle) { return retire(handle, true); }

  /// End a handle unless its object is pinned or held.
  Retired retire_if_idle(uint64_t handle) { return retire(handle, false); }

  /// Wait until no thread uses a retired object any more. One that is only held stays: what is
  /// queued in a stream may be reached long after.
  void wait_idle();

 private:
  friend class Pin<T>;
  friend class Hold<T>;
  enum Phase : uint64_t { kFree = 0, kLive = 1, kDying = 2, kOnTrial = 3 };
  static constexpr size_t kBlockSize = 256;
  static constexpr size_t kMaxBlocks = 4096;
  static constexpr unsigned kKindShift = 24;  // generation << 32 | kind << 24 | index + 1
  static_assert(kBlockSize * kMaxBlocks < size_t{1} << kKindShift);

  struct Slot {
    std::atomic<uint64_t> state{0};  // generation << 2 | phase
    T* object = nullptr;             // set before the state says live
    std::atomic<uint32_t> holds{0};  // added to by pinners only
    bool is_awaited = false;         // dying in use of a thread; guarded by mutex_
    uint32_t index = 0;
  };
  using Block = Slot[kBlockSize];

  static uint64_t state_of(uint64_t generation, Phase phase) { return generation << 2 | phase; }
  static bool is_dying(uint64_t state) { return (state & 3) == kDying; }
  static uint64_t generation_of(uint64_t handle) { return handle >> 32; }

  Slot* find(uint64_t handle) const;
  Slot* at(size_t index) const;
  Slot* take_free() HIPFILE_REQUIRES(mutex_);
  Retired retire(uint64_t handle, bool may_defer);
  void unpin(Slot* slot, std::atomic<const void*>* place);
  void let_go(Slot* slot);
  void reclaim(Slot* slot);
  void stop_awaiting(Slot* slot) HIPFILE_REQUIRES(mutex_);
  T* release(Slot* slot) HIPFILE_REQUIRES(mutex_);
  void destroy(T* object);

  const uint64_t kind_;
  const uint32_t first_generation_;
  std::atomic<Slot*> blocks_[kMaxBlocks] = {};  // never freed while the array lives
  Mutex mutex_;
  CondVar idle_;
  std::vector<uint32_t> free_ HIPFILE_GUARDED_BY(mutex_);
  uint32_t used_ HIPFILE_GUARDED_BY(mutex_) = 0;
  size_t awaited_ HIPFILE_GUARDED_BY(mutex_) = 0;  // slots to be freed by the thread that unpins
};

template <class T>
SlotArray<T>::~SlotArray() {
  for (std::atomic<Slot*>& block : blocks_) {
    Slot* slots = block.load(std::memory_order_relaxed);
    if (slots == nullptr) break;
    for (size_t at = 0; at < kBlockSize; ++at) delete slots[at].object;
    delete[] slots;
  }
}

template <class T>
typename SlotArray<T>::Slot* SlotArray<T>::find(uint64_t handle) const {
  const uint64_t position = (handle & 0xffffffff) - kind_;  // index + 1, or of another kind
  if (position == 0 || position > kBlockSize * kMaxBlocks) return nullptr;
  return at(position - 1);
}

template <class T>
typename SlotArray<T>::Slot* SlotArray<T>::at(size_t index) const {
  Slot* slots = blocks_[index / kBlockSize].load(std::memory_order_acquire);
  return slots == nullptr ? nullptr : &slots[index % kBlockSize];
}

template <class T>
typename SlotArray<T>::Slot* SlotArray<T>::take_free() {
  if (!free_.empty()) {
    const uint32_t index = free_.back();
    free_.pop_back();
    return at(index);
  }
  const size_t block = used_ / kBlockSize;
  if (block == kMaxBlocks) return nullptr;
  if (blocks_[block].load(std::memory_order_relaxed) == nullptr) {
    auto* slots = new Slot[kBlockSize];
    for (uint32_t at = 0; at < kBlockSize; ++at) {
      slots[at].index = used_ + at;
      slots[at].state.store(state_of(first_generation_, kFree), std::memory_order_relaxed);
    }
    free_.reserve((block + 1) * kBlockSize);  // so that giving a slot back cannot fail
    blocks_[block].store(slots, std::memory_order_release);
  }
  return at(used_++);
}

template <class T>
uint64_t SlotArray<T>::insert(std::unique_ptr<T> object) {
  MutexLock lock(mutex_);
  Slot* slot = take_free();
  if (slot == nullptr) return 0;
  const uint64_t generation = slot->state.load(std::memory_order_relaxed) >> 2;
  slot->object = object.release();
  slot->state.store(state_of(generation, kLive), std::memory_order_seq_cst);
  return generation << 32 | (kind_ + slot->index + 1);
}

template <class T>
Pin<T> SlotArray<T>::pin(uint64_t handle) {
  Pin<T> result;
  Slot* slot = find(handle);
  std::atomic<const void*>* place = ThreadPins::mine().vacancy();
  if (slot == nullptr || place == nullptr) return result;
  for (;;) {
    place->store(slot, std::memory_order_seq_cst);
    const uint64_t state = slot->state.load(std::memory_order_seq_cst);
    if (state == state_of(generation_of(handle), kLive)) break;
    unpin(slot, place);
    if (state != state_of(generation_of(handle), kOnTrial)) return result;
    std::this_thread::yield();  // the verdict takes one look at the records
  }
  result.array_ = this;
  result.slot_ = slot;
  result.place_ = place;
  return result;
}

template <class T>
void SlotArray<T>::unpin(Slot* slot, std::atomic<const void*>* place) {
  place->store(nullptr, std::memory_order_seq_cst);
  if (is_dying(slot->state.load(std::memory_order_seq_cst))) reclaim(slot);
}

template <class T>
void SlotArray<T>::let_go(Slot* slot) {
  if (slot->holds.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  if (is_dying(slot->state.load(std::memory_order_seq_cst))) reclaim(slot);
}

template <class T>
typename SlotArray<T>::Retired SlotArray<T>::retire(uint64_t handle, bool may_defer) {
  Slot* slot = find(handle);
  if (slot == nullptr) return Retired::kUnknown;
  T* object = nullptr;
  {
    MutexLock lock(mutex_);
    const uint64_t live = state_of(generation_of(handle), kLive);
    if (slot->state.load(std::memory_order_relaxed) != live) return Retired::kUnknown;
    // On trial, so that a pinner who comes meanwhile waits for the verdict: an object that stays
    // must not seem to be gone for a moment.
    const Phase phase = may_defer ? kDying : kOnTrial;
    slot->state.store(state_of(generation_of(handle), phase), std::memory_order_seq_cst);
    const bool is_pinned = ThreadPins::is_pinned(slot);
    const bool is_held = slot->holds.load(std::memory_order_seq_cst) != 0;
    if ((is_pinned || is_held) && !may_defer) {
      slot->state.store(live, std::memory_order_seq_cst);
      return Retired::kInUse;
    }
    slot->is_awaited = is_pinned || !is_held;
    if (slot->is_awaited) ++awaited_;
    if (!is_pinned && !is_held) object = release(slot);
  }
  if (object != nullptr) destroy(object);
  return Retired::kDone;
}

template <class T>
void SlotArray<T>::reclaim(Slot* slot) {
  T* object = nullptr;
  {
    MutexLock lock(mutex_);
    if (!is_dying(slot->state.load(std::memory_order_relaxed))) return;
    if (ThreadPins::is_pinned(slot)) return;  // that thread will come here
    if (slot->holds.load(std::memory_order_seq_cst) != 0) return stop_awaiting(slot);
    if (!slot->is_awaited) ++awaited_;
    slot->is_awaited = true;
    object = release(slot);
  }
  destroy(object);
}

template <class T>
void SlotArray<T>::stop_awaiting(Slot* slot) {
  if (!slot->is_awaited) return;
  slot->is_awaited = false;
  if (--awaited_ == 0) idle_.notify_all();
}

template <class T>
T* SlotArray<T>::release(Slot* slot) {
  const uint64_t generation = slot->state.load(std::memory_order_relaxed) >> 2;
  const uint64_t next = (generation + 1) & 0xffffffff;
  slot->state.store(state_of(next, kFree), std::memory_order_seq_cst);
  slot->is_awaited = false;
  free_.push_back(slot->index);
  return std::exchange(slot->object, nullptr);
}

template <class T>
void SlotArray<T>::destroy(T* object) {
  delete object;  // outside the lock: it may close descriptors
  MutexLock lock(mutex_);
  if (--awaited_ == 0) idle_.notify_all();
}

template <class T>
void SlotArray<T>::wait_idle() {
  MutexLock lock(mutex_);
  while (awaited_ != 0) idle_.wait(mutex_);
}

}  // namespace hipfile
