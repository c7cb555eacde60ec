// SPDX-License-Identifier: MIT
// Preloaded (LD_PRELOAD), or linked into a program that exports its symbols: logs positioned reads
// and writes of regular files by the thread engine, with the offsets and the order in which they
// happened (event_log.h).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "event_log.h"

namespace {

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

hipfile::test::EventLog& events() {
  static hipfile::test::EventLog& log = *new hipfile::test::EventLog;
  return log;
}

bool is_of_interest(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

const char* view_of(int fd) { return (::fcntl(fd, F_GETFL) & O_DIRECT) != 0 ? "direct" : "cache"; }

size_t total(const iovec* parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  return size;
}

template <typename Call>
ssize_t logged(const char* begin, const char* end, int fd, size_t size, off_t offset, Call call) {
  if (!is_of_interest(fd)) return call();
  const char* view = view_of(fd);
  events().add(begin, offset, size, view);
  const ssize_t n = call();
  events().add(end, offset, size, view);
  return n;
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED ssize_t pread64(int fd, void* data, size_t size, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off64_t)>("pread64");
  return logged("read-begin", "read-end", fd, size, offset,
                [&] { return real(fd, data, size, offset); });
}

EXPORTED ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return logged("write-begin", "write-end", fd, size, offset,
                [&] { return real(fd, data, size, offset); });
}

EXPORTED ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  return pread64(fd, data, size, offset);
}

EXPORTED ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

EXPORTED ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t, int)>("preadv2");
  return logged("read-begin", "read-end", fd, total(parts, count), offset,
                [&] { return real(fd, parts, count, offset, flags); });
}

EXPORTED ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t, int)>("pwritev2");
  return logged("write-begin", "write-end", fd, total(parts, count), offset,
                [&] { return real(fd, parts, count, offset, flags); });
}

}  // extern "C"
