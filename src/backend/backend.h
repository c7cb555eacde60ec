// SPDX-License-Identifier: MIT
//
// A data path. The backends are an ordered list; each either refuses a request, by a named reason,
// or runs it. What a request and its outcome are is said here, because every layer above shares it.
#pragma once

#include <hipfile_ext.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/options.h"
#include "engine/engine.h"
#include "resource/direction.h"
#include "resource/file.h"
#include "resource/memory.h"
#include "util/result.h"

namespace hipfile {

/// One valid request: its range lies inside the memory, and its size under the cap. The file and
/// the memory are pinned by the caller until run() returns.
struct Request {
  File* file = nullptr;
  Memory memory;
  char* address = nullptr;  ///< base + buffer offset: where byte 0 of the request lies
  size_t size = 0;          ///< bytes
  size_t asked = 0;         ///< bytes the caller asked for; a read may end before, with its file
  off_t file_offset = 0;    ///< bytes
  Direction direction = Direction::kRead;
  const BackendOptions* options = &kDefaultOptions;  ///< in force when the request began

  bool is_read() const { return direction == Direction::kRead; }
  off_t end() const { return file_offset + static_cast<off_t>(size); }
  /// The part of this request that covers [from, to) of the file.
  Request part(off_t from, off_t to) const;
};

/// How a request ended. `done` bytes were moved, counted from its start and without a gap; nothing
/// beyond is promised. `error` says what stopped it; a short read at the end of the file has none.
struct Outcome {
  size_t done = 0;
  Error error = Error::of(hipFileSuccess);

  bool failed() const { return error.code != hipFileSuccess; }
  static Outcome moved(size_t bytes);
  static Outcome failure(const Error& error, size_t done = 0);
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual hipFileExtBackend_t id() const = 0;
  /// Why this backend does not take the request, or hipFileExtRefusalNone. No I/O, no GPU call.
  virtual hipFileExtRefusal_t refuses(const Request& request) const = 0;
  /// Move the bytes, on the calling thread's time.
  virtual Outcome run(const Request& request) = 0;
  /// Where run() would be one read or write that io_uring may do as well: that operation. What it
  /// does not finish is left to run().
  virtual std::optional<IoOp> as_one_operation(const Request&) const { return std::nullopt; }
};

/// The aligned range inside [begin, end), and the edges around it. begin <= middle_begin <=
/// middle_end <= end; without a middle both lie at end, so that the head is everything.
struct Split {
  off_t begin, middle_begin, middle_end, end;
  bool has_middle() const { return middle_begin < middle_end; }
  bool has_edges() const { return begin < middle_begin || middle_end < end; }
};

/// Split a file range at multiples of `alignment` (a power of two). Pure.
Split split_at(off_t begin, off_t end, size_t alignment);

/// Alignment of file offsets and sizes for direct I/O in a direction.
size_t direct_alignment(const Request& request);

/// Join the outcomes of middle, head and tail of a split request, of which the middle ran first
/// (rule 21), into one count without a gap. A part that did not run counts as moved(0).
Outcome join(const Split& split, const Outcome& head, const Outcome& middle, const Outcome& tail);

/// Run the parts of a split request, never two at once (rule 21): the middle first, so that a
/// failure another backend may mend comes before any byte was moved; then head and tail, as far as
/// they count. Both callables take a Request and return its Outcome.
template <class Middle, class Edge>
Outcome run_parts(const Split& split, const Request& request, Middle&& run_middle,
                  Edge&& run_edge) {
  const Outcome middle = run_middle(request.part(split.middle_begin, split.middle_end));
  if (middle.failed() && middle.done == 0) return middle;
  const bool is_full = middle.done == static_cast<size_t>(split.middle_end - split.middle_begin);
  Outcome head, tail;
  if (split.begin < split.middle_begin) {
    head = run_edge(request.part(split.begin, split.middle_begin));
  }
  if (split.middle_end < split.end && is_full) {
    tail = run_edge(request.part(split.middle_end, split.end));
  }
  return join(split, head, middle, tail);
}

}  // namespace hipfile
