// SPDX-License-Identifier: MIT
// Running programs from tests: arguments, changed environment, output and exit status.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hipfile::test {

struct ProcessResult {
  int exit_code = -1;  // of the program; 128 + signal when a signal ended it
  int signal = 0;      // that ended it, or 0
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::vector<std::string> environment;  // "NAME=value", or "NAME" to remove it
  std::string directory;                 // working directory; empty: the caller's
  unsigned timeout_s = 120;              // then it is killed
};

// A program that runs while the test goes on. The destructor kills what still runs.
class RunningProcess {
 public:
  // `arguments[0]` is looked for in PATH.
  explicit RunningProcess(const std::vector<std::string>& arguments,
                          const ProcessOptions& options = {});
  ~RunningProcess();
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing happens when it has ended already: it is not waited for before wait().
  void send(int signal) const;
  bool has_ended() const;
  // By a signal, and not yet continued.
  bool is_stopped() const;
  // Once. The program is killed when the time of the options is over.
  ProcessResult wait();

 private:
  bool is_in_state(int state) const;

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  unsigned timeout_s_ = 0;
};

// Runs a program and waits for it.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const ProcessOptions& options = {});

// The folder in which the running program lies.
std::string program_folder();

// True when a program of that name is in PATH.
bool have_program(const std::string& name);

}  // namespace hipfile::test
