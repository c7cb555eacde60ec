// SPDX-License-Identifier: MIT
//
// Asking loader_probe, in a process of its own, which runtime the loader binds.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process.h"

namespace hipfile {

inline const std::string kCurrent = FAKE_CURRENT;  // HIP 7 with a device
inline const std::string kPortable = PORTABLE;

inline std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What a program prints that takes loader_probe's steps; `environment` beside the usual one.
inline test::ProcessResult run_probe(std::vector<std::string> command,
                                     const std::vector<std::string>& steps,
                                     const std::vector<std::string>& environment) {
  command.insert(command.end(), steps.begin(), steps.end());
  test::ProcessOptions options;
  options.environment = {"HIP_PORTABLE_BACKEND=emulated", "ROCM_PATH", "HIPFILE_HIP_LIBRARY"};
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  const test::ProcessResult result = test::run_process(command, options);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  return result;
}

inline std::string probe_with(const std::string& program, const std::vector<std::string>& steps) {
  return run_probe({program}, steps, {}).out;
}

// By loader_probe, with HIPFILE_HIP_LIBRARY=`wish` unless that is empty.
inline std::string probe(const std::vector<std::string>& steps, const std::string& wish = "") {
  std::vector<std::string> environment;
  if (!wish.empty()) environment.push_back("HIPFILE_HIP_LIBRARY=" + wish);
  return run_probe({LOADER_PROBE}, steps, environment).out;
}

}  // namespace hipfile
