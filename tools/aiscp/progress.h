// SPDX-License-Identifier: MIT
//
// What has been done so far: for the progress line and for --stats.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "options.h"

namespace aiscp {

/// Counted by the threads of the pipeline, read by the main thread.
struct Counters {
  std::atomic<uint64_t> bytes{0};   ///< written
  std::atomic<uint64_t> chunks{0};  ///< written
  uint64_t files = 0;               ///< in place
};

class Progress {
 public:
  Progress(const Options& options, size_t files);

  Counters& counters() { return counters_; }
  /// Bytes that the file now copied is expected to have; 0: unknown.
  void begin_file(uint64_t expected);
  /// Draws the line if it is wanted and due.
  void draw();
  /// Wipes it.
  void end();
  /// The lines of --stats: `device` and `paths` come from those who know.
  std::string summary(const std::string& device, const std::string& paths) const;

 private:
  using Clock = std::chrono::steady_clock;

  double elapsed() const;

  const bool is_wanted_;
  const size_t files_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point last_drawn_{};
  uint64_t expected_ = 0;
  uint64_t bytes_before_ = 0;  // of the files before this one
  Counters counters_;
};

/// "1.5 MiB"
std::string format_bytes(double bytes);

}  // namespace aiscp
