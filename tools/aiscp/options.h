// SPDX-License-Identifier: MIT
//
// The command line, read as cp reads its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#ifndef AISCP_CHUNK_SIZE
#define AISCP_CHUNK_SIZE 0x7ffff000LU  // the most bytes that one transfer moves
#endif

namespace aiscp {

enum class Direct { kAuto, kAlways, kNever };
enum class When { kAuto, kAlways, kNever };

struct GpuChoice {
  enum class Kind { kAuto, kHost, kDevices };
  Kind kind = Kind::kAuto;
  std::vector<int> devices;  ///< for kDevices, in the order given
};

struct Options {
  bool is_verbose = false;
  bool is_forced = false;
  bool is_in_place = false;
  bool wants_fsync = false;
  bool wants_stats = false;
  bool is_target_a_file = false;                ///< -T
  std::optional<std::string> target_directory;  ///< -t
  Direct direct = Direct::kAuto;
  When progress = When::kAuto;
  GpuChoice gpu;
  size_t chunk_size = 0;  ///< bytes; 0: not given
  unsigned jobs = 0;      ///< chunks in flight; 0: not given
  std::vector<std::string> operands;
};

/// Exit statuses of the program.
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

/// Fills in `options`. A value: the program ends with it at once (help, version, wrong usage).
std::optional<int> parse_options(int argc, char** argv, Options* options);

/// Says what is wrong with the command line and where help is. Returns kExitUsage.
int complain_usage(const std::string& text);

}  // namespace aiscp
