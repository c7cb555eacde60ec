// SPDX-License-Identifier: MIT
//
// The writing pipeline: slots go from the stream (device to slot) to the engine (slot to file) and
// back. Copies end in the order in which they were queued.
#include <algorithm>

#include "backend/bounce_pipeline.h"
#include "util/arith.h"

namespace hipfile {
namespace {

// Chunk borders lie on pages, whatever the alignment of the start.
constexpr uint64_t kBlock = 4096;

class WritePipeline : private ChunkPipeline {
 public:
  WritePipeline(const Request& request, const PipelineParts& parts)
      : ChunkPipeline(request, parts), chunks_(parts.max_slots) {}

  Outcome run() {
    for (;;) {
      while (start_copy()) {
      }
      if (!copying_.empty() && in_flight_ < parts_.queue.depth()) {
        start_write();
      } else if (in_flight_ != 0) {
        finish_write(parts_.queue.reap());
      } else {
        break;
      }
    }
    return finish();
  }

 private:
  struct Chunk {
    off_t begin = 0, end = 0;
  };

  bool start_copy() {
    if (next_ >= request_.end() || progress_.is_stopped()) return false;
    const int index = slots_.take(parts_.max_slots);
    if (index < 0) return false;
    Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const uint64_t border = align_down(static_cast<uint64_t>(next_) + chunk_size_, kBlock);
    chunk.begin = next_;
    chunk.end = std::min(request_.end(), static_cast<off_t>(border));
    next_ = chunk.end;
    const size_t at = offset_in_request(chunk);
    const Status status = copy(index, slots_.data(index), request_.address + at, size_of(chunk),
                               hipMemcpyDeviceToHost);
    if (!status.ok()) progress_.note(at, size_of(chunk), 0, status.error());
    return status.ok();
  }

  void start_write() {
    const int index = copying_.front().index;
    copying_.pop_front();
    const Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const Status waited = parts_.gpu.wait(parts_.stream, static_cast<size_t>(index));
    if (!waited.ok() || is_behind_gap(chunk)) {
      const Error error = waited.ok() ? Error::of(hipFileSuccess) : waited.error();
      progress_.note(offset_in_request(chunk), size_of(chunk), 0, error);
      if (waited.ok()) slots_.give_back(index);
      return;
    }
    IoOp op;
    op.fd = parts_.fd;
    op.data = slots_.data(index);
    op.size = size_of(chunk);
    op.offset = chunk.begin;
    op.is_write = true;
    op.tag = static_cast<uint64_t>(index);
    ++in_flight_;
    parts_.queue.submit(op);
  }

  void finish_write(const IoDone& done) {
    --in_flight_;
    const int index = static_cast<int>(done.tag);
    const Chunk& chunk = chunks_[static_cast<size_t>(index)];
    const Error error = done.error == 0 ? Error::of(hipFileSuccess) : Error::from_errno(done.error);
    progress_.note(offset_in_request(chunk), size_of(chunk), done.done, error);
    slots_.give_back(index);
  }

  size_t offset_in_request(const Chunk& chunk) const {
    return static_cast<size_t>(chunk.begin - request_.file_offset);
  }
  static size_t size_of(const Chunk& chunk) { return static_cast<size_t>(chunk.end - chunk.begin); }
  bool is_behind_gap(const Chunk& chunk) const {
    return progress_.is_stopped() && offset_in_request(chunk) >= progress_.outcome().done;
  }

  std::vector<Chunk> chunks_;  // by slot
};

}  // namespace

Outcome write_pipeline(const Request& request, const PipelineParts& parts) {
  return WritePipeline(request, parts).run();
}

}  // namespace hipfile
