// SPDX-License-Identifier: MIT
//
// Reading a source piece by piece up to its real end: holes are passed over where the file system
// knows them, a short read is only an end when the next read gives nothing, and a file that grows
// for ever has an end all the same.
#pragma once

#include <cstdint>

#include "source.h"

namespace aiscp {

/// Bytes of the source in device memory.
struct Piece {
  uint64_t offset = 0;
  size_t size = 0;  ///< 0: the end, at `offset`
};

/// Used by one thread.
class SourceReader {
 public:
  /// `may_skip_holes`: false where the destination holds old data (a block device).
  SourceReader(const Source& source, bool may_skip_holes);

  /// Reads the next piece into `buffer` of `capacity` bytes, a multiple of the page size.
  Status next(void* buffer, size_t capacity, Piece* piece);

 private:
  /// Moves position_ over a hole and sets stretch_end_. `is_end`: only holes follow.
  Status find_data(bool* is_end);
  /// Decides, once, where a file that grows ends: position_ has reached the size it had at first.
  Status look_for_end();
  /// Reads at most `want` bytes at position_, until filled or a read gives 0.
  Status fill(void* buffer, size_t want, size_t* got);
  /// What a read of 0 at position_ means.
  Status check_end(bool* is_end);

  static constexpr uint64_t kUnknown = UINT64_MAX;

  const Source& source_;
  const bool skips_holes_;
  uint64_t position_ = 0;
  uint64_t stretch_end_ = 0;      // data reaches at least to here; kUnknown without holes
  uint64_t limit_ = kUnknown;     // the end that was decided on
  bool is_size_trusted_ = false;  // the size fstat gives is that of the content
  bool has_retried_ = false;      // a read gave 0 before the limit and was repeated
};

}  // namespace aiscp
