// SPDX-License-Identifier: MIT
//
// Lanes are found by a walk: there are as many as streams with work. Gates come in blocks of powers
// of two, cut from slabs and never joined.
#include "gpu/stream_memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "gpu/numa.h"
#include "util/arith.h"

namespace hipfile {

StreamKey key_of(const UserStream& stream) {
  static std::atomic<uint64_t> last_thread{0};
  thread_local const uint64_t thread = ++last_thread;  // never used again, as an id would be
  if (stream.stream == hipStreamPerThread) return {stream.stream, stream.device, thread};
  const bool is_null = stream.stream == hipStreamLegacy;
  return {is_null ? nullptr : stream.stream, stream.device, 0};
}

StagingLane* StreamMemory::find_lane(const StreamKey& stream, size_t least) {
  StagingLane* idle = nullptr;
  for (const auto& lane : lanes_) {
    if (lane->size() < least) continue;
    if (lane->users_ != 0 && lane->owner_ == stream) return lane.get();
    if (lane->users_ == 0) idle = lane.get();
  }
  return idle;
}

void StreamMemory::set_lane_size(size_t bytes) {
  MutexLock lock(mutex_);
  lane_size_ = std::min(bytes, kLargestLane);
}

size_t StreamMemory::next_lane_size() const {
  const size_t taken = size();
  MutexLock lock(mutex_);
  return taken + lane_size_ <= budget_ ? lane_size_ : kSmallLane;
}

std::unique_ptr<StagingLane> StreamMemory::make_lane(const UserStream& stream, size_t least) {
  const int numa_node = gpu::numa_node_of(*stream.runtime, stream.device);
  least = align_up(least, kSlabSize);
  auto lane = std::make_unique<StagingLane>();
  for (size_t size = std::max(align_up(next_lane_size(), kSlabSize), least);; size /= 2) {
    lane->memory_ = PinnedMemory::allocate(gpu_, align_up(size, kSlabSize), numa_node);
    if (lane->memory_.is_pinned()) return lane;
    if (size / 2 < least) return nullptr;
  }
}

StagingLane* StreamMemory::lease_lane(const UserStream& stream, size_t least) {
  const StreamKey key = key_of(stream);
  {
    MutexLock lock(mutex_);
    if (StagingLane* lane = find_lane(key, least)) {
      lane->owner_ = key;
      ++lane->users_;
      return lane;
    }
  }
  std::unique_ptr<StagingLane> made = make_lane(stream, least);
  if (!made) return nullptr;
  MutexLock lock(mutex_);
  made->owner_ = key;
  made->users_ = 1;
  lanes_.push_back(std::move(made));
  return lanes_.back().get();
}

void StreamMemory::give_back(StagingLane* lane) {
  if (lane == nullptr) return;
  MutexLock lock(mutex_);
  --lane->users_;
}

unsigned StreamMemory::class_of(size_t count) {
  unsigned size_class = 0;
  while ((size_t{1} << size_class) < count) ++size_class;
  return size_class;
}

StreamGate* StreamMemory::pop_gates(unsigned size_class) {
  std::vector<StreamGate*>& free = free_gates_[size_class];
  if (!free.empty()) {
    StreamGate* gates = free.back();
    free.pop_back();
    return gates;
  }
  const size_t bytes = sizeof(StreamGate) << size_class;
  if (slab_used_ + bytes > kSlabSize) return nullptr;
  auto* gates = reinterpret_cast<StreamGate*>(slabs_.back().data() + slab_used_);
  slab_used_ += bytes;
  return gates;
}

StreamGate* StreamMemory::take_gates(size_t count) {
  const unsigned size_class = class_of(count);
  if (size_class >= kClasses || (sizeof(StreamGate) << size_class) > kSlabSize) return nullptr;
  StreamGate* gates = nullptr;
  {
    MutexLock lock(mutex_);
    gates = pop_gates(size_class);
  }
  if (gates == nullptr) {
    PinnedMemory slab = PinnedMemory::allocate(gpu_, kSlabSize, -1);
    if (!slab.is_pinned()) return nullptr;
    MutexLock lock(mutex_);
    // The rest of the slab before is lost: it was too small, and there are few slabs.
    slabs_.push_back(std::move(slab));
    slab_used_ = 0;
    gates = pop_gates(size_class);
  }
  for (size_t at = 0; at < count; ++at) new (gates + at) StreamGate{};
  return gates;
}

void StreamMemory::give_back(StreamGate* gates, size_t count) {
  if (gates == nullptr) return;
  MutexLock lock(mutex_);
  free_gates_[class_of(count)].push_back(gates);
}

void StreamMemory::trim() {
  std::vector<std::unique_ptr<StagingLane>> unused;  // unregistered after the lock
  MutexLock lock(mutex_);
  for (auto& lane : lanes_) {
    if (lane->users_ == 0) unused.push_back(std::move(lane));
  }
  lanes_.erase(std::remove(lanes_.begin(), lanes_.end(), nullptr), lanes_.end());
}

size_t StreamMemory::size() const {
  MutexLock lock(mutex_);
  size_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->size();
  return bytes;
}

}  // namespace hipfile
