// SPDX-License-Identifier: MIT
// pread and pwrite of the whole process: the linker exports what a shared library of the link asks
// for, and the program comes first in the order of look-up.
#include "io_watch.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace hipfile::test {
namespace {

std::atomic<bool> g_is_watching{false};
std::atomic<unsigned> g_delay_us{0};
std::mutex g_mutex;
IoSeen g_seen;
unsigned g_now = 0;
pid_t g_caller = 0;

template <typename Call>
ssize_t watched(int fd, size_t size, Call call) {
  struct stat status {};
  const bool is_counted =
      g_is_watching && size >= 4096 && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_counted) return call();
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    ++g_seen.calls;
    if (::gettid() == g_caller) ++g_seen.on_caller;
    g_seen.largest = std::max(g_seen.largest, size);
    g_seen.at_once = std::max(g_seen.at_once, ++g_now);
  }
  const ssize_t result = call();
  if (g_delay_us != 0) ::usleep(g_delay_us);
  const std::lock_guard<std::mutex> lock(g_mutex);
  --g_now;
  return result;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void start_io_watch(unsigned delay_us) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_seen = IoSeen();
  g_caller = ::gettid();
  g_delay_us = delay_us;
  g_is_watching = true;
}

IoSeen stop_io_watch() {
  g_is_watching = false;
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_seen;
}

}  // namespace hipfile::test

#define EXPORTED __attribute__((visibility("default")))
using hipfile::test::next;
using hipfile::test::watched;
using Read = ssize_t (*)(int, void*, size_t, off64_t);
using Write = ssize_t (*)(int, const void*, size_t, off64_t);

extern "C" {

EXPORTED ssize_t pread64(int fd, void* data, size_t size, off64_t offset) {
  static const auto real = next<Read>("pread64");
  return watched(fd, size, [&] { return real(fd, data, size, offset); });
}

EXPORTED ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  static const auto real = next<Write>("pwrite64");
  return watched(fd, size, [&] { return real(fd, data, size, offset); });
}

EXPORTED ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  return pread64(fd, data, size, offset);
}

EXPORTED ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

}  // extern "C"
