// SPDX-License-Identifier: MIT
//
// Large reads are cut into chunks for several threads, or a deep queue on the direct view. A
// buffered write is one call: more threads would only queue on the inode (rule 25).
#include "backend/host.h"

#include <algorithm>

#include "backend/progress.h"
#include "backend/residency.h"
#include "engine/transfer_loop.h"
#include "util/arith.h"

namespace hipfile {
namespace {

constexpr size_t kChunk = 4 << 20;
constexpr size_t kLargestSingle = 1 << 20;
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

// Direct where file offset and address are aligned together; the edges, or everything, buffered.
Outcome Host::run_direct(const Request& request) {
  File& file = *request.file;
  const Split split = split_at(request.file_offset, request.end(), direct_alignment(request));
  if (!split.has_middle()) return run_buffered(request);
  const Request middle = request.part(split.middle_begin, split.middle_end);
  const auto address = reinterpret_cast<uintptr_t>(middle.address);
  if (!is_aligned(address, file.facts().direct.memory_alignment)) return run_buffered(request);

  const int fd = file.direct_fd(request.direction);
  return run_parts(
      split, request,
      [this, fd](const Request& part) { return run_in_chunks(part, fd, engines_.direct()); },
      [this](const Request& part) { return run_buffered(part); });
}

Outcome Host::run_buffered(const Request& request) {
  const int buffered = request.file->buffered_fd(request.direction);
  const int fd = buffered >= 0 ? buffered : request.file->own_fd();
  if (!request.is_read()) return run_in_order(request, fd);
  return run_in_chunks(request, fd, engines_.buffered(request.options->prefer_uring));
}

Outcome Host::run_in_order(const Request& request, int fd) {
  return outcome_of(transfer_in_pieces(whole_op(request, fd), request.options->largest_io));
}

Outcome Host::run_in_chunks(const Request& request, int fd, Engine& engine) {
  const IoOp whole = whole_op(request, fd);
  const BackendOptions& options = *request.options;
  const size_t chunk_size = std::min(kChunk, options.largest_io);
  const unsigned depth = std::min(kDepth, options.depth_for(request.size));
  const bool is_single = request.size <= std::min(kLargestSingle, chunk_size);
  if (is_single || depth == 1) return run_in_order(request, fd);
  Progress progress(request.size);
  const std::unique_ptr<IoQueue> queue =
      engine.open_queue(depth, false, options.polls(request.size));
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
