// SPDX-License-Identifier: MIT
//
// What both directions share. Only the first look at the end counts: whoever makes it tells the
// owner, after the lock, and touches nothing afterwards.
#include "io/staged.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "backend/staging.h"
#include "util/arith.h"

namespace hipfile {
namespace {

constexpr size_t kSmallestChunk = 64 << 10;
constexpr size_t kLargestChunk = 4 << 20;
constexpr size_t kChunksWanted = 8;
constexpr size_t kMostChunks = 250;  // of two entries each in the stream
constexpr uint64_t kPage = 4096;

}  // namespace

size_t Staging::slot_size() const { return align_up(chunk_size, kPage) + kStagingSlack; }

size_t staged_chunk_size(size_t request_size) {
  const size_t wanted = align_up(request_size / kChunksWanted, kSmallestChunk);
  const size_t least = align_up(request_size / kMostChunks, kSmallestChunk);
  return std::max(std::clamp(wanted, kSmallestChunk, kLargestChunk), least);
}

StagedTransfer::StagedTransfer(const Request& request, const Staging& staging, ThreadPool& pool,
                               Owner& owner)
    : request_(request),
      staging_(staging),
      count_((request.size + staging.chunk_size - 1) / staging.chunk_size),
      chunks_(count_),
      progress_(request.size),
      pool_(pool),
      owner_(owner) {
  MutexLock lock(mutex_);
  for (size_t at = 0; at < count_; ++at) {
    chunks_[at].transfer = this;
    chunks_[at].index = at;
    chunks_[at].task = {&StagedTransfer::run_task, &chunks_[at], nullptr};
  }
}

Request StagedTransfer::part(size_t chunk) const {
  const off_t begin = request_.file_offset + static_cast<off_t>(offset_of(chunk));
  const size_t size = std::min(staging_.chunk_size, request_.size - offset_of(chunk));
  return request_.part(begin, begin + static_cast<off_t>(size));
}

bool StagedTransfer::was_copied(size_t chunk) const { return staging_.gates[chunk].was_copied(); }

void StagedTransfer::open_gate(size_t chunk, void* to, const void* from, size_t size) {
  StreamGate& gate = staging_.gates[chunk];
  gate.copy.destination = to;
  gate.copy.source = from;
  gate.copy.size = size;
  gate.open();
}

void StagedTransfer::launch(size_t chunk) {
  ++in_flight_;
  if (keeps_one_) {
    kept_ = &chunks_[chunk];
  } else {
    pool_.submit(chunks_[chunk].task);
  }
}

// Another thread would have to be woken for it.
void StagedTransfer::start() {
  Chunk* const own = proceed(nullptr, count_ == 1);
  if (own != nullptr) run_task(own);
}

void StagedTransfer::run_task(void* context) {
  auto* chunk = static_cast<Chunk*>(context);
  try {
    chunk->staged = chunk->transfer->run_file_side(chunk->index);
  } catch (const std::bad_alloc&) {
    chunk->staged.error = Error::from_errno(ENOMEM);
  }
  chunk->transfer->proceed(chunk);
}

StagedTransfer::Chunk* StagedTransfer::proceed(const Chunk* finished, bool keeps_one) {
  Outcome outcome;
  {
    MutexLock lock(mutex_);
    if (finished != nullptr) {
      --in_flight_;
      chunks_[finished->index].is_done = true;
    }
    if (has_ended_) return nullptr;
    keeps_one_ = keeps_one;
    advance();
    keeps_one_ = false;
    has_ended_ = in_flight_ == 0 && is_complete();
    if (!has_ended_ && !is_watched_ && waits_for_stream()) {
      is_watched_ = true;
      owner_.watch();  // under the lock: another thread may end the transfer right after it
    }
    if (!has_ended_) return std::exchange(kept_, nullptr);
    outcome = progress_.outcome();
  }
  owner_.ended(outcome);
  return nullptr;
}

void StagedTransfer::stop() {
  {
    MutexLock lock(mutex_);
    progress_.note(0, request_.size, 0, Error::of(hipFileInternalError));
  }
  proceed(nullptr);
}

bool StagedTransfer::poll() {
  proceed(nullptr);
  MutexLock lock(mutex_);
  is_watched_ = !has_ended_ && waits_for_stream();
  return is_watched_;
}

}  // namespace hipfile
