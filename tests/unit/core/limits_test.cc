// SPDX-License-Identifier: MIT
//
// Limits of nested cgroups, and what of the memory in use is only page cache.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temp_dir.h"
#include "util/cpu_limits.h"

namespace hipfile {
namespace {

class NestedGroups : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const test::TempDir root_;
};

TEST(Folders, GoUpToTheMount) {
  const std::vector<std::string> expected = {"/cg/a.slice/b", "/cg/a.slice", "/cg"};
  EXPECT_EQ(folders_up("/cg", "/a.slice/b"), expected);
  EXPECT_EQ(folders_up("/cg", ""), std::vector<std::string>{"/cg"});
  EXPECT_EQ(folders_up("/cg", "odd"), std::vector<std::string>{"/cg"});
}

TEST(MemoryStat, CachedPagesAreReclaimable) {
  EXPECT_EQ(reclaimable_of("anon 5\ninactive_file 300\nactive_file 20\n"), 320u);
  EXPECT_EQ(reclaimable_of("inactive_file 1\nactive_file 2\ntotal_inactive_file 10\n"
                           "total_active_file 20\n"),
            30u);
  EXPECT_EQ(reclaimable_of(""), 0u);
}

TEST(MemoryStat, SumThatIsTooLargeSaturates) {
  EXPECT_EQ(reclaimable_of("inactive_file 18446744073709551615\nactive_file 5\n"), SIZE_MAX);
}

TEST(Quota, LargestNumbersAreNoSmallQuota) {
  EXPECT_EQ(cpus_of_quota_v1("18446744073709551615", "100000"), 4096u);
  EXPECT_EQ(cpus_of_quota_v1("150000", "100000"), 2u);
}

TEST_F(NestedGroups, Rule32_LeastQuotaOfAllHolds) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpus(root_.path()), 2u);
}

TEST_F(NestedGroups, LeastMemoryOfAllIsLeft) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/memory.max", "5000\n");
  write("/sys/fs/cgroup/a/memory.current", "4000\n");
  EXPECT_EQ(cgroup_memory_left(root_.path()), 1000u);
}

TEST_F(NestedGroups, PageCacheIsNoMemoryInUse) {
  write("/proc/self/cgroup", "0::/a\n");
  write("/sys/fs/cgroup/a/memory.max", "5000\n");
  write("/sys/fs/cgroup/a/memory.current", "4500\n");
  write("/sys/fs/cgroup/a/memory.stat", "anon 500\ninactive_file 3000\nactive_file 1000\n");
  EXPECT_EQ(cgroup_memory_left(root_.path()), 4500u);
}

TEST_F(NestedGroups, GroupThatIsTheRootOfTheMountIsRead) {
  write("/proc/self/cgroup", "0::/docker/0123\n");
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_cpus(root_.path()), 1u);
}

}  // namespace
}  // namespace hipfile
