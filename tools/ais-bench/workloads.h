// SPDX-License-Identifier: MIT
//
// The same movements by hipFile.
#pragma once

#include <hipfile.h>

#include "bench.h"

namespace ais_bench {

/// The library with the file, and the buffer unless it is to stay unregistered.
class Library {
 public:
  explicit Library(Bench& bench);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  hipFileHandle_t handle() const { return handle_; }

 private:
  Bench& bench_;
  hipFileHandle_t handle_ = nullptr;
};

/// hipFileRead or hipFileWrite by that many threads, each its part of the file.
Work synchronous(Bench& bench, const Library& library, Way way, unsigned threads);

/// hipFileReadAsync or hipFileWriteAsync, all queued by one thread, streams in turn.
Work asynchronous(Bench& bench, const Library& library, Way way);

/// Ends the program unless it is a success.
void check(hipFileError_t error, const char* what);

}  // namespace ais_bench
