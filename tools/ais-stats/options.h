// SPDX-License-Identifier: MIT
//
// The command line of ais-stats.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ais_stats {

constexpr int kExitFailure = 1;  ///< of every kind, wrong usage too

struct Options {
  pid_t pid = 0;                     ///< attach to this process; 0: start `program`
  bool is_immediate = false;         ///< report at once instead of at the end of the process
  double watch_s = 0;                ///< a line every so many seconds; 0: none
  std::vector<std::string> program;  ///< with its arguments
};

/// Fills `options`, or returns the exit status: help or version were asked for, or wrong usage.
std::optional<int> parse_options(int argc, char** argv, Options* options);

void complain(const std::string& text);

}  // namespace ais_stats
