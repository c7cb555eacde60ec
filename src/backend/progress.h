// SPDX-License-Identifier: MIT
//
// Counting what a request with several chunks in flight really moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "backend/backend.h"

namespace hipfile {

/// Chunks end in any order; what counts is the prefix without a gap. One thread.
class Progress {
 public:
  explicit Progress(size_t total) : stop_(total) {}

  /// The chunk that covers [at, at + wanted) of the request moved `moved` bytes of it. Fewer than
  /// wanted end the request there: at the end of the file (no error), or for `error`.
  void note(size_t at, size_t wanted, size_t moved, const Error& error);
  /// True once a chunk fell short: nothing behind it needs to be started.
  bool is_stopped() const { return is_stopped_; }
  /// The outcome, once no chunk is in flight.
  Outcome outcome() const { return Outcome::failure(error_, stop_); }

 private:
  size_t stop_;  // bytes up to the first gap
  bool is_stopped_ = false;
  Error error_ = Error::of(hipFileSuccess);
};

}  // namespace hipfile
