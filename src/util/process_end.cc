// SPDX-License-Identifier: MIT
//
// By a process descriptor (Linux 5.3), which no other process of that number can be taken for.
#include "util/process_end.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hipfile {
namespace {
constexpr int kLookMs = 20;
}

ProcessEnd::ProcessEnd(pid_t pid) : pid_(pid) {
  pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd_) is_there_ = errno != ESRCH && !has_ended();
}

// A child that has ended is there until somebody waits for it.
bool ProcessEnd::has_ended() const {
  siginfo_t info = {};
  const bool is_child =
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_child && info.si_pid == pid_) return true;
  return kill(pid_, 0) != 0 && errno == ESRCH;
}

bool ProcessEnd::wait(int timeout_ms, int fd) const {
  pollfd events[] = {{pidfd_.get(), POLLIN, 0}, {fd, POLLIN, 0}};
  if (pidfd_) {
    const int count = poll(events, 2, timeout_ms);
    return count > 0 && events[0].revents != 0;
  }
  for (int left = timeout_ms; !has_ended(); left -= kLookMs) {
    if (timeout_ms >= 0 && left <= 0) return false;
    const int slice = timeout_ms < 0 ? kLookMs : std::min(left, kLookMs);
    if (poll(events, 2, slice) > 0) return false;
  }
  return true;
}

}  // namespace hipfile
