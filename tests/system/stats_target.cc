// SPDX-License-Identifier: MIT
// What ais-stats looks at in its tests. Reads FILE into device memory, says "ready", and goes on by
// a word:
//   stats_target FILE once   ends
//   stats_target FILE hold   sleeps until it is killed
//   stats_target FILE late   sleeps for 300 ms first and ends then; late-hold: as hold then
//   stats_target FILE twice  forks; both processes read
//   stats_target FILE idle   never calls hipFile; sleeps
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

constexpr size_t kBytes = 8192;

bool read_file(const char* path) {
  hipFileDescr_t descr = {};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = ::open(path, O_RDONLY);
  hipFileHandle_t handle = nullptr;
  void* memory = nullptr;
  return hipFileHandleRegister(&handle, &descr).err == hipFileSuccess &&
         hipMalloc(&memory, kBytes) == hipSuccess &&
         hipFileRead(handle, memory, kBytes, 0, 0) == ssize_t{kBytes};
}

int run(const char* path, const std::string& word) {
  if (word.find("late") == 0) ::usleep(300000);
  const pid_t child = word == "twice" ? ::fork() : 0;
  if (word != "idle" && !read_file(path)) return 1;
  std::puts("ready");
  std::fflush(stdout);
  if (word == "hold" || word == "late-hold" || word == "idle") {
    for (;;) ::pause();
  }
  if (word == "twice" && child != 0) ::waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? run(argv[1], argv[2]) : 2; }
