// SPDX-License-Identifier: MIT
// Runs a test program on a file system made for it:
//
//   fs_run [--or-plain] [--size MIB] FILE-SYSTEM PROGRAM [ARGUMENT]...
//
// The program finds the place in HIPFILE_TEST_DIR and AISCP_TEST_DIR. Exit status: the program's;
// 77 (a skip, with the reason) when the file system cannot be had here. With --or-plain the program
// then runs in an ordinary temporary directory instead.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "file_systems.h"
#include "temp_dir.h"

namespace {

constexpr int kSkipped = 77;

int run_in(const std::string& directory, char** arguments) {
  const pid_t pid = ::fork();
  if (pid < 0) {
    std::perror("fs_run: fork");
    return 1;
  }
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("HIPFILE_TEST_DIR", directory.c_str(), 1);
    ::setenv("AISCP_TEST_DIR", directory.c_str(), 1);
    ::execvp(arguments[0], arguments);
    std::perror(arguments[0]);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  bool or_plain = false;
  unsigned mebibytes = 512;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    if (std::strcmp(argv[at], "--or-plain") == 0) {
      or_plain = true;
    } else if (std::strcmp(argv[at], "--size") == 0 && at + 1 < argc) {
      mebibytes = static_cast<unsigned>(std::strtoul(argv[++at], nullptr, 10));
    }
  }
  if (argc - at < 2) {
    std::fprintf(stderr, "usage: fs_run [--or-plain] [--size MIB] FILE-SYSTEM PROGRAM...\n");
    return 2;
  }
  // The process that holds the mounts must outlive an interrupt, to take them down.
  std::signal(SIGINT, SIG_IGN);
  hipfile::test::FileSystem file_system;
  const std::string reason = file_system.mount(argv[at], mebibytes);
  if (reason.empty()) return run_in(file_system.path(), argv + at + 1);
  if (!or_plain) {
    std::printf("SKIPPED: no %s here (%s)\n", argv[at], reason.c_str());
    return kSkipped;
  }
  std::printf("no %s here (%s): an ordinary directory instead\n", argv[at], reason.c_str());
  std::fflush(stdout);
  const hipfile::test::TempDir plain;
  return run_in(plain.path(), argv + at + 1);
}
