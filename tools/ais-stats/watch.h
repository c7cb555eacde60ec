// SPDX-License-Identifier: MIT
//
// What is printed: lines while a process runs, the report at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "util/stats_view.h"

namespace ais_stats {

using Views = std::vector<std::unique_ptr<hipfile::stats::View>>;

/// A line with what was moved since the last one.
class Watch {
 public:
  /// @param seconds between two lines; 0: none
  explicit Watch(double seconds);
  /// How long to sleep until the next line, ms; -1: there is none.
  int timeout_ms() const;
  /// Prints a line if it is time.
  void look(const Views& views);

 private:
  struct Sums {
    uint64_t bytes[2], calls[2], errors;
  };
  static Sums sums_of(const Views& views);

  const uint64_t period_ns_;
  const uint64_t begin_ns_;
  uint64_t last_ns_;
  Sums last_ = {};
};

/// The report of each process, under its number where there are several. False if it cannot be
/// written.
bool print_reports(const Views& views);

}  // namespace ais_stats
