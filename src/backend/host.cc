// SPDX-License-Identifier: MIT
//
// Large reads are cut into chunks for several threads, or a deep queue on the direct view. Buffered
// writes follow one another: small ones on the calling thread, large ones take turns with those of
// other callers (rule 25).
#include "backend/host.h"

#include <algorithm>

#include "backend/progress.h"
#include "backend/residency.h"
#include "backend/staging.h"
#include "engine/transfer_loop.h"
#include "util/arith.h"

namespace hipfile {
namespace {

constexpr size_t kChunk = 4 << 20;
constexpr size_t kLargestSingle = 1 << 20;
constexpr size_t kLargestCopied = 16 << 10;  // many of one batch, by one thread
constexpr unsigned kDepth = 16;

IoOp whole_op(const Request& request, int fd) {
  IoOp op;
  op.fd = fd;
  op.data = request.address;
  op.size = request.size;
  op.offset = request.file_offset;
  op.is_write = !request.is_read();
  return op;
}

bool is_one_call(const Request& request) {
  const size_t largest = std::min(kLargestSingle, std::min(kChunk, request.options->largest_io));
  return request.size <= largest;
}

// The part of a request that the direct view can have; none where the memory forbids it.
Split direct_split(const Request& request) {
  const Split split = split_at(request.file_offset, request.end(), direct_alignment(request));
  const auto address = reinterpret_cast<uintptr_t>(request.address) +
                       static_cast<size_t>(split.middle_begin - split.begin);
  const size_t alignment = request.file->facts().direct.memory_alignment;
  if (is_aligned(address, alignment)) return split;
  return {split.begin, split.end, split.end, split.end};
}

int buffered_view(const Request& request) {
  const int buffered = request.file->buffered_fd(request.direction);
  return buffered >= 0 ? buffered : request.file->own_fd();
}

Outcome outcome_of(const IoDone& done) {
  const Error error = done.error == 0 ? Error::of(hipFileSuccess) : Error::from_errno(done.error);
  return Outcome::failure(error, done.done);
}

}  // namespace

hipFileExtRefusal_t Host::refuses(const Request& request) const {
  if (request.memory.is_device()) return hipFileExtRefusalNotHostMemory;
  return request.options->allow_host ? hipFileExtRefusalNone : hipFileExtRefusalHostDisabled;
}

Outcome Host::run(const Request& request) {
  return for_each_stretch(request, [this](const Request& part, bool is_direct) {
    return is_direct ? run_direct(part) : run_buffered(part);
  });
}

// A request that is one call goes through one view: choose_views() cuts larger ones only. Of those
// through the page cache, small reads alone: io_uring copies on the submitting thread, and writes
// queue on the inode (rule 25).
std::optional<IoOp> Host::as_one_operation(const Request& request) const {
  if (!engines_.uring || request.size == 0 || !is_one_call(request)) return std::nullopt;
  if (choose_views(request).front().is_direct) {
    const Split split = direct_split(request);
    if (!split.has_middle() || split.has_edges()) return std::nullopt;
    return whole_op(request, request.file->direct_fd(request.direction));
  }
  const bool is_small = request.size <= kLargestCopied;
  if (!request.is_read() || !is_small) return std::nullopt;
  return whole_op(request, buffered_view(request));
}

// Direct where file offset and address are aligned together; the edges, or everything, buffered.
Outcome Host::run_direct(const Request& request) {
  File& file = *request.file;
  const Split split = direct_split(request);
  if (!split.has_middle()) return run_buffered(request);
  const int fd = file.direct_fd(request.direction);
  return run_parts(
      split, request,
      [this, fd](const Request& part) { return run_in_chunks(part, fd, engines_.direct()); },
      [this](const Request& part) { return run_buffered(part); });
}

Outcome Host::run_buffered(const Request& request) {
  const int fd = buffered_view(request);
  if (!request.is_read()) return write_in_turn(request, fd);
  return run_in_chunks(request, fd, engines_.buffered(request.options->prefer_uring));
}

Outcome Host::write_in_turn(const Request& request, int fd) {
  if (is_one_call(request)) return run_in_order(request, fd);
  const size_t largest = request.options->largest_io;
  const auto queue = engines_.threads->open_queue(1, turns_of(request, engines_),
                                                  request.options->polls(request.size));
  IoDone total;
  const IoOp whole = whole_op(request, fd);
  while (total.done < whole.size) {
    IoOp op = rest_of(whole, total.done);
    op.size = std::min(op.size, largest);
    queue->submit(op);
    const IoDone done = queue->reap();
    total.done += done.done;
    total.error = done.error;
    if (done.done < op.size) break;
  }
  return outcome_of(total);
}

Outcome Host::run_in_order(const Request& request, int fd) {
  return outcome_of(transfer_in_pieces(whole_op(request, fd), request.options->largest_io));
}

Outcome Host::run_in_chunks(const Request& request, int fd, Engine& engine) {
  const IoOp whole = whole_op(request, fd);
  const BackendOptions& options = *request.options;
  const size_t chunk_size = std::min(kChunk, options.largest_io);
  const unsigned depth = std::min(kDepth, options.depth_for(request.size));
  if (is_one_call(request) || depth == 1) return run_in_order(request, fd);
  Progress progress(request.size);
  const std::unique_ptr<IoQueue> queue =
      engine.open_queue(depth, nullptr, options.polls(request.size));
  unsigned in_flight = 0;
  for (size_t next = 0;;) {
    while (next < whole.size && !progress.is_stopped() && in_flight < queue->depth()) {
      IoOp op = rest_of(whole, next);
      op.size = std::min(op.size, chunk_size);
      op.tag = next;
      queue->submit(op);
      next += op.size;
      ++in_flight;
    }
    if (in_flight == 0) return progress.outcome();
    const IoDone done = queue->reap();
    --in_flight;
    const size_t wanted = std::min(chunk_size, whole.size - done.tag);
    progress.note(done.tag, wanted, done.done, outcome_of(done).error);
  }
}

}  // namespace hipfile
