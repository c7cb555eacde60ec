// SPDX-License-Identifier: MIT
//
// The command line of ais-bench.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ais_bench {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr unsigned kMostThreads = 64;  ///< and streams

enum class Verb { kCeilings, kRead, kWrite, kAsync, kStart, kChild };

/// What a figure is compared with.
enum class Beside {
  kCeiling,  ///< the narrowest of what the bytes must pass: link, page cache or disk
  kHand,     ///< the same calls by hand: pread into pinned memory and a copy
  kSync,     ///< for async: as many threads of the synchronous call as there are streams
};

struct Options {
  Verb verb = Verb::kCeilings;
  std::string path;  ///< a file, or a directory for a nameless one
  size_t size = 0;   ///< bytes of the file that are used; 0: all, or 1 GiB
  size_t call = 0;   ///< most bytes of one call; 0: as the verb likes
  std::vector<unsigned> threads = {1};
  unsigned streams = 8;
  unsigned queue = 0;  ///< operations of a stream before a wait; 0: all
  unsigned runs = 10;  ///< pairs
  int device = 0;
  Beside beside = Beside::kCeiling;
  bool is_cold = false;        ///< the file is dropped from the cache before each run
  bool is_direct = false;      ///< the descriptor has O_DIRECT
  bool is_write = false;       ///< of async
  bool is_busy = false;        ///< while a kernel holds the device, beside the same without
  bool is_registered = true;   ///< the buffer
  bool may_overwrite = false;  ///< an existing file
  bool is_json = false;
};

/// Fills `options`, or returns the exit status: help or version were asked for, or wrong usage.
std::optional<int> parse_options(int argc, char** argv, Options* options);

}  // namespace ais_bench
