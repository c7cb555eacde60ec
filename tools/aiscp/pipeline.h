// SPDX-License-Identifier: MIT
//
// The copy itself: one thread reads chunks into device memory, another writes them from there, the
// main thread watches over both. While chunk k is written, chunk k+1 is being read.
#pragma once

#include <functional>

#include "buffers.h"
#include "destination.h"
#include "progress.h"
#include "source.h"

namespace aiscp {

struct PipelineJob {
  const Source* source = nullptr;
  const Destination* destination = nullptr;
  Device* device = nullptr;
  Buffers* buffers = nullptr;
  Progress* progress = nullptr;
  /// Called when a signal came and a thread does not return from the system: clean up what can be,
  /// the process is about to end.
  std::function<void()> clean_up;
};

/// Copies to the end of the source. `end`: its size.
Status run_pipeline(const PipelineJob& job, uint64_t* end);

}  // namespace aiscp
