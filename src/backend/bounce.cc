// SPDX-License-Identifier: MIT
//
// The choice among the ways to bounce: small requests on the calling thread, large ones in chunks,
// unaligned direct writes in three parts.
#include "backend/bounce.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "backend/bounce_pipeline.h"
#include "backend/staging.h"

namespace hipfile {
namespace {

constexpr size_t kLargestSmall = 64 << 10;

Outcome no_memory() { return Outcome::failure(Error::from_errno(ENOMEM)); }

}  // namespace

hipFileExtRefusal_t Bounce::refuses(const Request& request) const {
  if (!request.memory.is_device()) return hipFileExtRefusalNotDeviceMemory;
  return request.options->allow_compat ? hipFileExtRefusalNone : hipFileExtRefusalCompatDisallowed;
}

Outcome Bounce::run(const Request& request) {
  return for_each_stretch(request, [this](const Request& part, bool is_direct) {
    return run_stretch(part, is_direct);
  });
}

Outcome Bounce::run_stretch(const Request& request, bool is_direct) {
  const bool is_small = request.size <= kLargestSmall && (!is_direct || fits_staging(request));
  if (request.is_read()) {
    return is_small ? read_small(request, is_direct) : run_chunks(request, is_direct);
  }
  if (is_direct && !is_aligned_request(request)) return write_split(request);
  return is_small ? write_small(request, is_direct) : run_chunks(request, is_direct);
}

Outcome Bounce::read_small(const Request& request, bool is_direct) {
  char* slot = ring_.small_slot();
  if (slot == nullptr) return no_memory();
  const Staged staged = read_staged(request, is_direct, slot);
  if (staged.size == 0) return Outcome::failure(staged.error);

  Result<StreamLease> stream = lease_stream(request);
  if (!stream.ok()) return Outcome::failure(stream.error());
  const Status queued = gpu_.copy_async(*stream.value(), request.address, staged.data, staged.size,
                                        hipMemcpyHostToDevice);
  const Status copied = gpu_.synchronize(*stream.value());
  if (!queued.ok()) return Outcome::failure(queued.error());
  if (!copied.ok()) return Outcome::failure(copied.error());
  return Outcome::failure(staged.error, staged.size);
}

Outcome Bounce::write_small(const Request& request, bool is_direct) {
  char* slot = ring_.small_slot();
  if (slot == nullptr) return no_memory();
  Result<StreamLease> stream = lease_stream(request);
  if (!stream.ok()) return Outcome::failure(stream.error());
  const Status queued =
      gpu_.copy_async(*stream.value(), slot, request.address, request.size, hipMemcpyDeviceToHost);
  const Status copied = gpu_.synchronize(*stream.value());
  if (!queued.ok()) return Outcome::failure(queued.error());
  if (!copied.ok()) return Outcome::failure(copied.error());
  return write_staged(request, is_direct, slot);
}

Outcome Bounce::write_split(const Request& request) {
  const Split split = split_at(request.file_offset, request.end(), direct_alignment(request));
  if (!split.has_middle()) return run_stretch(request, false);
  return run_parts(
      split, request, [this](const Request& part) { return run_stretch(part, true); },
      [this](const Request& part) { return run_stretch(part, false); });
}

// Parts that do not run side by side need no hand-over to other threads.
std::unique_ptr<IoQueue> Bounce::open_queue(const Request& request, bool is_direct, unsigned most) {
  const BackendOptions& options = *request.options;
  const unsigned depth = std::min(most, options.depth_for(request.size));
  if (depth == 1) return open_plain_queue();
  const bool takes_turns = !request.is_read() && !is_direct;
  Engine& engine = is_direct ? engines_.direct() : engines_.buffered(options.prefer_uring);
  return engine.open_queue(depth, takes_turns ? turns_of(request, engines_) : nullptr,
                           options.polls(request.size));
}

Result<StreamLease> Bounce::lease_stream(const Request& request) {
  const bool is_polled = request.options->polls(request.size);
  return gpu_.lease_stream(request.memory.runtime, request.memory.device, is_polled);
}

Outcome Bounce::run_chunks(const Request& request, bool is_direct) {
  Result<StreamLease> stream = lease_stream(request);
  if (!stream.ok()) return Outcome::failure(stream.error());
  const BackendOptions& options = *request.options;
  const size_t alignment = is_direct ? direct_alignment(request) : 1;
  const size_t chunk_size = chunk_size_for(request, alignment);
  const size_t share = std::max<size_t>(1, options.request_staging / chunk_size);
  const auto max_slots = static_cast<unsigned>(std::min<size_t>(share, ring_.slots_per_request()));
  const size_t chunks = (request.size + chunk_size - 1) / chunk_size;
  const std::unique_ptr<IoQueue> queue =
      open_queue(request, is_direct, static_cast<unsigned>(std::min<size_t>(max_slots, chunks)));
  PipelineParts parts = {
      gpu_,      ring_,      *queue,   *stream.value(), view_of(request, is_direct),
      alignment, chunk_size, max_slots};
  if (!request.is_read()) return write_pipeline(request, parts);
  const ReaderCrowd::Member member(crowd_);
  parts.crowd = &member;
  return read_pipeline(request, parts);
}

}  // namespace hipfile
