// SPDX-License-Identifier: MIT
//
// The file's side of a bounce.
#include "backend/staging.h"

#include <algorithm>

#include "engine/transfer_loop.h"
#include "util/arith.h"

namespace hipfile {
namespace {

constexpr size_t kLargestAlignment = kStagingSlack / 2;

Error error_of(const IoDone& done) {
  return done.error == 0 ? Error::of(hipFileSuccess) : Error::from_errno(done.error);
}

}  // namespace

int view_of(const Request& request, bool is_direct) {
  File& file = *request.file;
  const int wanted =
      is_direct ? file.direct_fd(request.direction) : file.buffered_fd(request.direction);
  return wanted >= 0 ? wanted : request.file->own_fd();
}

std::shared_ptr<Turns> turns_of(const Request& request, const EngineChoice& engines) {
  const FileFacts& facts = request.file->facts();
  return engines.turns->of(facts.device, facts.inode);
}

bool is_aligned_request(const Request& request) {
  const size_t alignment = direct_alignment(request);
  return is_aligned(static_cast<uint64_t>(request.file_offset), alignment) &&
         is_aligned(request.size, alignment);
}

bool fits_staging(const Request& request) { return direct_alignment(request) <= kLargestAlignment; }

Staged read_staged(const Request& request, bool is_direct, char* staging) {
  const uint64_t unit = is_direct ? direct_alignment(request) : 1;
  const auto begin =
      static_cast<off_t>(align_down(static_cast<uint64_t>(request.file_offset), unit));
  const auto end = static_cast<off_t>(align_up(static_cast<uint64_t>(request.end()), unit));
  const auto skip = static_cast<size_t>(request.file_offset - begin);
  IoOp op;
  op.fd = view_of(request, is_direct);
  op.data = staging;
  op.size = static_cast<size_t>(end - begin);
  op.offset = begin;
  const IoDone done = transfer_fully(op);
  Staged staged;
  staged.data = staging + skip;
  staged.size = std::min(done.done > skip ? done.done - skip : 0, request.size);
  if (staged.size < request.size) staged.error = error_of(done);
  return staged;
}

Outcome write_staged(const Request& request, bool is_direct, char* staging) {
  IoOp op;
  op.fd = view_of(request, is_direct);
  op.data = staging;
  op.size = request.size;
  op.offset = request.file_offset;
  op.is_write = true;
  const IoDone done = transfer_fully(op);
  return Outcome::failure(error_of(done), done.done);
}

}  // namespace hipfile
