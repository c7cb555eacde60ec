// SPDX-License-Identifier: MIT
// Armed and disarmed while no call runs.
#include "faulty_calls.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace hipfile::test {
namespace {

constexpr size_t kBlock = 4096;

CallFault fault;
ino_t inode = 0;
std::atomic<bool> is_armed{false}, has_fired{false};
std::atomic<uint64_t> calls{0};
std::atomic<off_t> failing_offset{-1};  // of the rest of a call that was halved

ssize_t fail() {
  has_fired = true;
  if (fault.error == 0) return 0;
  errno = fault.error;
  return -1;
}

bool is_of_file(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && status.st_ino == inode;
}

// `move` makes the call with the size that it is given.
template <typename Move>
ssize_t run(int fd, size_t size, off_t offset, Move move) {
  if (!is_armed || !is_of_file(fd)) return move(size);
  std::this_thread::sleep_for(std::chrono::milliseconds(fault.delay_ms));
  off_t rest = offset;
  if (failing_offset.compare_exchange_strong(rest, -1)) return fail();
  if (++calls != fault.nth) return move(size);
  const size_t half = fault.moves_half ? size / 2 / kBlock * kBlock : 0;
  if (half == 0) return fail();
  failing_offset = offset + static_cast<off_t>(half);
  return move(half);
}

}  // namespace

void arm_calls(const std::string& path, const CallFault& wish) {
  struct stat status = {};
  const bool is_wished = wish.nth != 0 || wish.delay_ms != 0;
  if (!is_wished || ::stat(path.c_str(), &status) != 0) return;
  inode = status.st_ino;
  fault = wish;
  calls = 0;
  has_fired = false;
  failing_offset = -1;
  is_armed = true;
}

bool disarm_calls() {
  is_armed = false;
  return has_fired.exchange(false);
}

}  // namespace hipfile::test

extern "C" __attribute__((visibility("default"))) ssize_t pread(int fd, void* data, size_t size,
                                                                off_t offset) {
  return hipfile::test::run(fd, size, offset, [&](size_t part) -> ssize_t {
    return ::syscall(SYS_pread64, fd, data, part, offset);
  });
}

extern "C" __attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* data,
                                                                 size_t size, off_t offset) {
  return hipfile::test::run(fd, size, offset, [&](size_t part) -> ssize_t {
    return ::syscall(SYS_pwrite64, fd, data, part, offset);
  });
}
