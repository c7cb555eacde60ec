// SPDX-License-Identifier: MIT
//
// Waiting for the end of a process that need not be a child.
#pragma once

#include <sys/types.h>

#include "util/unique_fd.h"

namespace hipfile {

class ProcessEnd {
 public:
  explicit ProcessEnd(pid_t pid);

  /// True if there was such a process when this object was made.
  bool is_there() const { return is_there_; }
  /// Sleeps until the process has ended, `fd` (-1: none) can be read, or the time is over (-1: no
  /// end). True if the process has ended.
  bool wait(int timeout_ms, int fd = -1) const;

 private:
  bool has_ended() const;

  const pid_t pid_;
  UniqueFd pidfd_;  // -1 where the kernel has none: then the process is looked at now and again
  bool is_there_ = true;
};

}  // namespace hipfile
