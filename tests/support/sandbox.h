// SPDX-License-Identifier: MIT
// What a sandbox or an old kernel does to a program: system calls that are refused, rights that are
// gone, parts of the system that are not mounted. For processes of their own: nothing here can be
// taken back.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace hipfile::test {

// One system call that is refused, always or for one value of one argument.
struct Refusal {
  static constexpr int kKills = -1;

  long call = 0;       // SYS_…
  int error = 0;       // errno; kKills: the process dies by SIGSYS
  int argument = -1;   // 0 to 5: only where this argument …
  uint32_t value = 0;  // … has this value (its lower half)
};

// Refuses system calls by seccomp, in all threads of this process and its children. False, with
// errno, where that is not possible.
bool refuse_calls(std::initializer_list<Refusal> refusals);

// Becomes the user 65534 without groups or capabilities, as a login would: /proc/self stays its
// own. False, with errno, when not root.
bool become_nobody();

// Moves into a mount namespace of its own, whose mounts nobody else sees.
bool enter_private_mounts();

// Takes a mounted file system out of sight ("/proc", "/sys"). In private mounts only.
bool hide(const std::string& mount_point);

}  // namespace hipfile::test
