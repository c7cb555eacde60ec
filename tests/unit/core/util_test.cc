// SPDX-License-Identifier: MIT
//
// Parsing of the environment and of cgroup files, alignment, mount options.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "resource/mount_facts.h"
#include "resource/second_view.h"
#include "util/arith.h"
#include "util/cpu_limits.h"
#include "util/env.h"
#include "util/fork_guard.h"

namespace hipfile {
namespace {

TEST(Env, BooleansAreWordsInAnyCase) {
  for (const char* text : {"true", "TRUE", "1", "yes", "On"}) EXPECT_EQ(parse_bool(text), true);
  for (const char* text : {"false", "False", "0", "NO", "off"}) EXPECT_EQ(parse_bool(text), false);
  for (const char* text : {"", "2", "tru", " true", "true "}) EXPECT_FALSE(parse_bool(text));
}

TEST(Env, NumbersAreDecimalAndSaturate) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("16777216"), 16777216u);
  EXPECT_EQ(parse_size("18446744073709551615"), SIZE_MAX);
  EXPECT_EQ(parse_size("99999999999999999999999"), SIZE_MAX);
  for (const char* text : {"", "-1", "+1", "1k", " 1", "1 ", "0x10"})
    EXPECT_FALSE(parse_size(text));
}

TEST(Arith, AlignsByPowersOfTwo) {
  EXPECT_EQ(align_down(4097, 4096), 4096u);
  EXPECT_EQ(align_up(4097, 4096), 8192u);
  EXPECT_EQ(align_up(4096, 4096), 4096u);
  EXPECT_FALSE(is_aligned(4096, 0));
  EXPECT_TRUE(add_overflows(UINT64_MAX, 1));
}

TEST(ForkGuard, Rule33_ChildIsSeenByAPageThatTheKernelWipes) {
  const ForkGuard guard;
  EXPECT_FALSE(guard.in_child_of_fork());
  const pid_t pid = fork();
  if (pid == 0) _exit(guard.in_child_of_fork() && !ForkGuard().in_child_of_fork() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(guard.in_child_of_fork());
}

TEST(Cgroup, Rule32_QuotaIsRoundedUp) {
  EXPECT_EQ(cpus_of_quota_v2("150000 100000\n"), 2u);
  EXPECT_EQ(cpus_of_quota_v2("50000 100000\n"), 1u);
  EXPECT_FALSE(cpus_of_quota_v2("max 100000\n"));
  EXPECT_FALSE(cpus_of_quota_v2(""));
  EXPECT_EQ(cpus_of_quota_v1("200000\n", "100000\n"), 2u);
  EXPECT_FALSE(cpus_of_quota_v1("-1\n", "100000\n"));
  EXPECT_FALSE(cpus_of_quota_v1("100000\n", "0\n"));
}

TEST(Cgroup, PathOfAControllerIsFound) {
  const std::string text = "5:cpu,cpuacct:/box\n4:memory:/box/a:b\n0::/unified\n";
  EXPECT_EQ(cgroup_path(text, "cpu"), "/box");
  EXPECT_EQ(cgroup_path(text, "memory"), "/box/a:b");
  EXPECT_EQ(cgroup_path(text, ""), "/unified");
  EXPECT_EQ(cgroup_path(text, "pids"), "");
}

// A recorded tree stands in for /proc and /sys: version 2 has no controllers on every machine.
class RecordedTree : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  ~RecordedTree() override { std::filesystem::remove_all(root_); }
  const std::string root_ = ::testing::TempDir() + "hipfile-cgroup";
};

TEST_F(RecordedTree, Rule32_VersionTwoLimitsAreRead) {
  write("/proc/self/cgroup", "0::/job\n");
  write("/sys/fs/cgroup/job/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/job/memory.max", "1000000\n");
  write("/sys/fs/cgroup/job/memory.current", "400000\n");
  EXPECT_EQ(cgroup_cpus(root_), 3u);
  EXPECT_EQ(cgroup_memory_left(root_), 600000u);
}

TEST_F(RecordedTree, Rule32_VersionOneLimitsAreRead) {
  write("/proc/self/cgroup", "4:memory:/job\n3:cpu:/job\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(cgroup_cpus(root_), 1u);
  EXPECT_EQ(cgroup_memory_left(root_), 0u);
}

TEST_F(RecordedTree, NoLimitIsNoAnswer) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_FALSE(cgroup_cpus(root_));
  EXPECT_FALSE(cgroup_memory_left(root_));
}

TEST(MountFacts, DataModeOfOptions) {
  EXPECT_EQ(data_mode_of("ext4", ""), DataMode::kOrdered);
  EXPECT_EQ(data_mode_of("ext4", "rw,data=ordered"), DataMode::kOrdered);
  EXPECT_EQ(data_mode_of("ext4", "rw,data=journal,x"), DataMode::kJournal);
  EXPECT_EQ(data_mode_of("ext4", "data=writeback"), DataMode::kWriteback);
  EXPECT_EQ(data_mode_of("xfs", "rw"), DataMode::kOrdered);
  EXPECT_EQ(data_mode_of("btrfs", "rw"), DataMode::kUnknown);
}

TEST(SecondView, OnlyKnownFlagsCarryOver) {
  const int always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  EXPECT_EQ(second_view_flags(O_RDWR | O_TMPFILE), O_RDWR | O_DIRECT | always);
  EXPECT_EQ(second_view_flags(O_WRONLY | O_DIRECT | O_SYNC), O_WRONLY | O_SYNC | always);
  EXPECT_EQ(read_only(O_RDWR | O_DIRECT), O_RDONLY | O_DIRECT);
  EXPECT_EQ(read_only(O_WRONLY | O_DIRECT), O_WRONLY | O_DIRECT);
  EXPECT_EQ(second_view_flags(O_RDONLY | O_TRUNC | O_CREAT | O_APPEND),
            O_DIRECT | O_APPEND | always);
}

}  // namespace
}  // namespace hipfile
