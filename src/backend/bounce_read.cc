// SPDX-License-Identifier: MIT
//
// The reading pipeline: slots go from the engine (file to slot) to the stream (slot to device) and
// back. Completions come in any order, copies are queued as they come. Who waits for a copy queues
// none meanwhile: so that neither storage nor link idles, it is done only while both have enough to
// do.
#include <algorithm>

#include "backend/bounce_pipeline.h"
#include "util/arith.h"

namespace hipfile {
namespace {

constexpr size_t kLargeRequest = 64 << 20;
constexpr size_t kFirstChunks = 8;
constexpr unsigned kManySlots = 8;
constexpr uint64_t kPage = 4096;

class ReadPipeline : private ChunkPipeline {
 public:
  ReadPipeline(const Request& request, const PipelineParts& parts)
      : ChunkPipeline(request, parts), chunks_(parts.max_slots) {}

  Outcome run() {
    for (;;) {
      while (start_read()) {
      }
      if (in_flight_ == 0) break;
      finish_read(parts_.queue.reap());
    }
    return finish();
  }

 private:
  struct Chunk {
    off_t begin = 0, end = 0;  // what is wanted of the file
    off_t offset = 0;          // where the aligned read begins
  };

  unsigned most_slots() const {
    const ReaderCrowd::Member* crowd = parts_.crowd;
    return crowd == nullptr ? parts_.max_slots : std::min(parts_.max_slots, crowd->share());
  }

  // The engine has enough with five slots of eight; all but one where there are few.
  bool is_engine_busy() const {
    const unsigned slots = slots_.count();
    return in_flight_ != 0 && in_flight_ >= std::min(slots - 1, (slots * 5 + 7) / 8);
  }

  // A slot: free, or new from the ring, or of a copy that is waited for: of several where slots go
  // back to the ring because more readers came. None while nothing is in flight means that the
  // request is over.
  int acquire_slot() {
    for (;;) {
      take_back_copied();
      const int index = slots_.take(most_slots());
      if (index >= 0 || copying_.empty() || is_engine_busy()) return index;
      const Status waited = wait_for_oldest();
      if (waited.ok()) continue;
      progress_.note(0, request_.size, 0, waited.error());
      return -1;
    }
  }

  // Eight readers that begin together would end together, and the link would idle until then.
  size_t next_chunk_size() {
    const bool is_large = request_.size >= kLargeRequest && parts_.alignment == 1;
    if (!is_large || started_ >= kFirstChunks) return chunk_size_;
    return align_up(chunk_size_ * ++started_ / kFirstChunks, kPage);
  }

  // A mark costs the device as much as 70 KiB of a copy; half of them are enough where slots are
  // many.
  bool marks_next() {
    is_marking_ = !is_marking_ || slots_.count() < kManySlots;
    return is_marking_;
  }

  bool start_read() {
    if (next_ >= request_.end() || progress_.is_stopped()) return false;
    if (in_flight_ >= parts_.queue.depth()) return false;
    const int index = acquire_slot();
    if (index < 0) return false;
    Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const uint64_t unit = parts_.alignment;
    chunk.begin = next_;
    chunk.offset = static_cast<off_t>(align_down(static_cast<uint64_t>(next_), unit));
    chunk.end = std::min(request_.end(), chunk.offset + static_cast<off_t>(next_chunk_size()));
    const auto read_end = static_cast<off_t>(align_up(static_cast<uint64_t>(chunk.end), unit));
    IoOp op;
    op.fd = parts_.fd;
    op.data = slots_.data(index);
    op.size = static_cast<size_t>(read_end - chunk.offset);
    op.offset = chunk.offset;
    op.tag = static_cast<uint64_t>(index);
    next_ = chunk.end;
    ++in_flight_;
    parts_.queue.submit(op);
    return true;
  }

  void finish_read(const IoDone& done) {
    --in_flight_;
    const int index = static_cast<int>(done.tag);
    const Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const off_t arrived_end = std::min(chunk.end, chunk.offset + static_cast<off_t>(done.done));
    const auto wanted = static_cast<size_t>(chunk.end - chunk.begin);
    const auto arrived = static_cast<size_t>(std::max<off_t>(0, arrived_end - chunk.begin));
    const auto at = static_cast<size_t>(chunk.begin - request_.file_offset);
    const Error error = done.error == 0 ? Error::of(hipFileSuccess) : Error::from_errno(done.error);
    progress_.note(at, wanted, arrived, error);
    if (arrived == 0 || at >= progress_.outcome().done) {  // nothing, or behind a gap
      slots_.give_back(index);
      return;
    }
    start_copy(index, at, arrived);
  }

  void start_copy(int index, size_t at, size_t size) {
    const Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const char* from = slots_.data(index) + (chunk.begin - chunk.offset);
    const Status status =
        copy(index, request_.address + at, from, size, hipMemcpyHostToDevice, marks_next());
    if (!status.ok()) progress_.note(at, size, 0, status.error());
  }

  std::vector<Chunk> chunks_;  // by slot
  size_t started_ = 0;         // of the first chunks
  bool is_marking_ = false;
};

}  // namespace

Outcome read_pipeline(const Request& request, const PipelineParts& parts) {
  return ReadPipeline(request, parts).run();
}

}  // namespace hipfile
