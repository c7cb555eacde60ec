// SPDX-License-Identifier: MIT
// Running programs from tests: arguments, changed environment, output and exit status.
#pragma once

#include <string>
#include <vector>

namespace hipfile::test {

struct ProcessResult {
  int exit_code = -1;  // of the program; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::vector<std::string> environment;  // "NAME=value", or "NAME" to remove it
  std::string directory;                 // working directory; empty: the caller's
  unsigned timeout_s = 120;              // then it is killed
};

// Runs `arguments[0]` (looked for in PATH) and waits for it.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const ProcessOptions& options = {});

// The folder in which the running program lies.
std::string program_folder();

// True when a program of that name is in PATH.
bool have_program(const std::string& name);

}  // namespace hipfile::test
