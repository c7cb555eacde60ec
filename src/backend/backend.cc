// SPDX-License-Identifier: MIT
//
// The arithmetic that the backends share.
#include "backend/backend.h"

#include "util/arith.h"

namespace hipfile {

Request Request::part(off_t from, off_t to) const {
  Request result = *this;
  result.address = address + (from - file_offset);
  result.size = static_cast<size_t>(to - from);
  result.file_offset = from;
  return result;
}

Outcome Outcome::moved(size_t bytes) {
  Outcome outcome;
  outcome.done = bytes;
  return outcome;
}

Outcome Outcome::failure(const Error& error, size_t done) {
  Outcome outcome;
  outcome.done = done;
  outcome.error = error;
  return outcome;
}

Split split_at(off_t begin, off_t end, size_t alignment) {
  const auto unit = static_cast<uint64_t>(alignment);
  // Unsigned until compared: rounded up, the largest offsets are no offset any more.
  const uint64_t up = align_up(static_cast<uint64_t>(begin), unit);
  const uint64_t down = align_down(static_cast<uint64_t>(end), unit);
  if (alignment == 0 || up >= down) return {begin, end, end, end};
  return {begin, static_cast<off_t>(up), static_cast<off_t>(down), end};
}

size_t direct_alignment(const Request& request) {
  const DirectFacts& direct = request.file->facts().direct;
  return request.is_read() ? direct.offset_alignment : direct.write_alignment;
}

Outcome join(const Split& split, const Outcome& head, const Outcome& middle, const Outcome& tail) {
  const auto head_size = static_cast<size_t>(split.middle_begin - split.begin);
  const auto middle_size = static_cast<size_t>(split.middle_end - split.middle_begin);
  Outcome joined = head;
  if (head.failed() || head.done < head_size) return joined;
  joined.done += middle.done;
  joined.error = middle.error;
  if (middle.failed() || middle.done < middle_size) return joined;
  joined.done += tail.done;
  joined.error = tail.error;
  return joined;
}

}  // namespace hipfile
