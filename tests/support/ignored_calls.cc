// SPDX-License-Identifier: MIT
// A library for LD_PRELOAD that answers 0 to some calls without making them, so that a test can see
// what a program without them would do. HIPFILE_TEST_IGNORE names them: "fsync,ftruncate".
// Files still grow: a program may need that for memory of its own.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

bool is_ignored(const char* call) {
  const char* list = std::getenv("HIPFILE_TEST_IGNORE");
  return list != nullptr && std::strstr(list, call) != nullptr;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int fsync(int fd) {
  return is_ignored("fsync") ? 0 : static_cast<int>(::syscall(SYS_fsync, fd));
}

EXPORTED int fdatasync(int fd) {
  return is_ignored("fdatasync") ? 0 : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

EXPORTED int ftruncate(int fd, off_t size) noexcept {
  struct stat now {};
  const bool is_cut = ::fstat(fd, &now) == 0 && size < now.st_size;
  if (is_cut && is_ignored("ftruncate")) return 0;
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
