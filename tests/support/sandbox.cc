// SPDX-License-Identifier: MIT
// The filter is written by hand: a table of numbers, for which a library would be one more thing to
// install. It looks at the lower half of an argument, which is where it differs.
#include "sandbox.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace hipfile::test {
namespace {

constexpr uid_t kNobody = 65534;

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

sock_filter unless_equal_skip(uint32_t value, uint8_t instructions) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, instructions);
}

void append(std::vector<sock_filter>& program, const Refusal& refusal) {
  const bool has_argument = refusal.argument >= 0;
  program.push_back(load(offsetof(seccomp_data, nr)));
  program.push_back(unless_equal_skip(static_cast<uint32_t>(refusal.call), has_argument ? 3 : 1));
  if (has_argument) {
    program.push_back(load(offsetof(seccomp_data, args) +
                           sizeof(uint64_t) * static_cast<size_t>(refusal.argument)));
    program.push_back(unless_equal_skip(refusal.value, 1));
  }
  const uint32_t action = refusal.error == Refusal::kKills
                              ? SECCOMP_RET_KILL_PROCESS
                              : SECCOMP_RET_ERRNO | static_cast<uint32_t>(refusal.error);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, action));
}

}  // namespace

bool refuse_calls(std::initializer_list<Refusal> refusals) {
  std::vector<sock_filter> program;
  for (const Refusal& refusal : refusals) append(program, refusal);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<uint16_t>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

bool become_nobody() {
  // Who changes its user may not look into its own /proc any more, until it says otherwise.
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

bool enter_private_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool hide(const std::string& mount_point) {
  return ::umount2(mount_point.c_str(), MNT_DETACH) == 0;
}

}  // namespace hipfile::test
