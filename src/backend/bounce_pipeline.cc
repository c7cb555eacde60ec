// SPDX-License-Identifier: MIT
//
// What the two directions share.
#include "backend/bounce_pipeline.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "util/arith.h"

namespace hipfile {
namespace {
constexpr size_t kSmallestChunk = 256 << 10;
constexpr size_t kChunksWanted = 8;
constexpr size_t kBlock = 4096;
// 8 threads read into 8 slots while others are copied: 16 for one reader. Many need a few more,
// since each has its own stream.
constexpr unsigned kSlotsOfOne = 16;
constexpr unsigned kSlotsOfMany = 24;
}  // namespace

size_t chunk_size_for(const Request& request, size_t alignment) {
  const BackendOptions& options = *request.options;
  const size_t wanted = align_up(request.size / kChunksWanted, kSmallestChunk);
  const size_t largest =
      std::min({PinnedRing::kSlotSize, options.largest_io, options.request_staging});
  return std::max(std::min(std::max(wanted, kSmallestChunk), align_down(largest, kBlock)),
                  alignment);
}

unsigned ReaderCrowd::Member::share() const {
  const unsigned members = std::max(1u, crowd_.members_.load(std::memory_order_relaxed));
  return std::min(kSlotsOfOne, (kSlotsOfMany + members - 1) / members);
}

bool ChunkSlots::lease_another() {
  SlotLease slot = held_ == 0 ? ring_.lease(numa_node_) : ring_.try_lease(numa_node_);
  if (!slot) return false;
  if (given_up_.empty()) {
    given_up_.push_back(static_cast<int>(slots_.size()));
    slots_.emplace_back();
  }
  free_.push_back(given_up_.back());
  given_up_.pop_back();
  slots_[static_cast<size_t>(free_.back())] = std::move(slot);
  ++held_;
  return true;
}

int ChunkSlots::take(unsigned most) {
  for (; held_ > most && !free_.empty(); --held_) {
    given_up_.push_back(free_.back());
    free_.pop_back();
    slots_[static_cast<size_t>(given_up_.back())] = SlotLease();
  }
  if (free_.empty() && (held_ >= most || !lease_another())) return -1;
  const int index = free_.back();
  free_.pop_back();
  return index;
}

ChunkPipeline::ChunkPipeline(const Request& request, const PipelineParts& parts)
    : request_(request),
      parts_(parts),
      chunk_size_(parts.chunk_size),
      next_(request.file_offset),
      slots_(parts.ring, parts.stream.numa_node),
      progress_(request.size) {}

ChunkPipeline::~ChunkPipeline() {
  for (; in_flight_ != 0; --in_flight_) parts_.queue.reap();
  if (!is_finished_) (void)parts_.gpu.synchronize(parts_.stream);
}

Status ChunkPipeline::copy(int index, void* to, const void* from, size_t size, hipMemcpyKind kind,
                           bool is_marked) {
  Status status = parts_.gpu.copy_async(parts_.stream, to, from, size, kind);
  if (status.ok() && is_marked) {
    status = parts_.gpu.record(parts_.stream, static_cast<size_t>(index));
  }
  if (status.ok()) copying_.push_back({index, is_marked});
  return status;
}

std::deque<ChunkPipeline::Copying>::iterator ChunkPipeline::first_mark() {
  return std::find_if(copying_.begin(), copying_.end(),
                      [](const Copying& copy) { return copy.is_marked; });
}

void ChunkPipeline::take_back_copied() {
  for (auto mark = first_mark(); mark != copying_.end(); mark = first_mark()) {
    if (!parts_.gpu.is_reached(parts_.stream, static_cast<size_t>(mark->index))) return;
    for (int left = static_cast<int>(mark - copying_.begin()); left >= 0; --left) {
      slots_.give_back(copying_.front().index);
      copying_.pop_front();
    }
  }
}

Status ChunkPipeline::wait_for_oldest() {
  auto mark = first_mark();
  Status status;
  if (mark == copying_.end()) {
    --mark;
    status = parts_.gpu.record(parts_.stream, static_cast<size_t>(mark->index));
  }
  if (status.ok()) status = parts_.gpu.wait(parts_.stream, static_cast<size_t>(mark->index));
  for (int left = static_cast<int>(mark - copying_.begin()); left >= 0; --left) {
    if (status.ok()) slots_.give_back(copying_.front().index);
    copying_.pop_front();
  }
  return status;
}

Outcome ChunkPipeline::finish() {
  const Status copied = parts_.gpu.synchronize(parts_.stream);
  copying_.clear();
  is_finished_ = true;
  // For want of a slot: what was not begun was not moved.
  const auto begun = static_cast<size_t>(next_ - request_.file_offset);
  progress_.note(begun, request_.size - begun, 0, Error::from_errno(ENOMEM));
  return copied.ok() ? progress_.outcome() : Outcome::failure(copied.error());
}

}  // namespace hipfile
