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
}  // namespace

size_t chunk_size_for(const Request& request, size_t alignment) {
  const BackendOptions& options = *request.options;
  const size_t wanted = align_up(request.size / kChunksWanted, kSmallestChunk);
  const size_t largest =
      std::min({PinnedRing::kSlotSize, options.largest_io, options.request_staging});
  return std::max(std::min(std::max(wanted, kSmallestChunk), align_down(largest, kBlock)),
                  alignment);
}

int ChunkSlots::take() {
  if (free_.empty() && slots_.size() < most_) {
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

ChunkPipeline::ChunkPipeline(const Request& request, const PipelineParts& parts)
    : request_(request),
      parts_(parts),
      chunk_size_(parts.chunk_size),
      next_(request.file_offset),
      slots_(parts.ring, parts.stream.numa_node, parts.max_slots),
      progress_(request.size) {}

ChunkPipeline::~ChunkPipeline() {
  for (; in_flight_ != 0; --in_flight_) parts_.queue.reap();
  if (!is_finished_) (void)parts_.gpu.synchronize(parts_.stream);
}

Status ChunkPipeline::copy(int index, void* to, const void* from, size_t size, hipMemcpyKind kind) {
  Status status = parts_.gpu.copy_async(parts_.stream, to, from, size, kind);
  if (status.ok()) status = parts_.gpu.record(parts_.stream, static_cast<size_t>(index));
  if (status.ok()) copying_.push_back(index);
  return status;
}

Outcome ChunkPipeline::finish() {
  const Status copied = parts_.gpu.synchronize(parts_.stream);
  copying_.clear();
  is_finished_ = true;
  if (!slots_.has_any()) return Outcome::failure(Error::from_errno(ENOMEM));
  return copied.ok() ? progress_.outcome() : Outcome::failure(copied.error());
}

}  // namespace hipfile
