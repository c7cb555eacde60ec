// SPDX-License-Identifier: MIT
//
// Parts of the emulated device without the device: free extents, limits read from recorded trees of
// /proc and /sys, settings.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "hip/src/emulated/extents.h"
#include "hip/src/emulated/memory_limits.h"
#include "hip/src/settings.h"
#include "support/temp_dir.h"

namespace {

using hip_portable::parse_bytes;
using hip_portable::emulated::available_memory;
using hip_portable::emulated::Extents;
using hip_portable::emulated::kNoLimit;

TEST(Extents, TakesTheSmallestThatFits) {
  Extents extents;
  extents.give({0, 1000});
  extents.give({5000, 300});
  const auto part = extents.take(256, 1);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->taken.start, 5000U);
  EXPECT_EQ(part->from.size, 300U);
}

TEST(Extents, JoinsNeighbours) {
  Extents extents;
  extents.give({0, 100});
  extents.give({200, 100});
  const auto joined = extents.give({100, 100});
  EXPECT_EQ(joined.start, 0U);
  EXPECT_EQ(joined.size, 300U);
  EXPECT_TRUE(extents.take(300, 1).has_value());
}

TEST(Extents, KeepsWhatAlignmentLeavesOver) {
  Extents extents;
  extents.give({100, 900});
  const auto part = extents.take(256, 256);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->taken.start, 256U);
  EXPECT_TRUE(extents.take(156, 1).has_value());
  EXPECT_TRUE(extents.take(488, 1).has_value());
  EXPECT_FALSE(extents.take(1, 1).has_value());
}

TEST(Extents, RefusesWhereAlignmentLeavesTooLittle) {
  Extents extents;
  extents.give({100, 300});
  EXPECT_FALSE(extents.take(256, 256).has_value());
}

class MemoryLimits : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    const std::string whole = root_.path() + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
  }
  hipfile::test::TempDir root_;
};

TEST_F(MemoryLimits, NothingToReadIsNoLimit) {
  EXPECT_EQ(available_memory(root_.path()), kNoLimit);
}

TEST_F(MemoryLimits, Rule26_MemAvailableIsTheLimitOutsideCgroups) {
  put("/proc/meminfo", "MemTotal: 900 kB\nMemAvailable:     500 kB\n");
  EXPECT_EQ(available_memory(root_.path()), 500U * 1024);
}

TEST_F(MemoryLimits, Rule26_Version1LeavesLimitMinusUsageWithoutCache) {
  put("/proc/meminfo", "MemAvailable: 5000000 kB\n");
  put("/proc/self/cgroup", "4:cpu,memory:/a/b\n0::/\n");
  put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "1000000\n");
  put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "700000\n");
  put("/sys/fs/cgroup/memory/a/b/memory.stat", "cache 9\ntotal_inactive_file 200000\n");
  EXPECT_EQ(available_memory(root_.path()), 500000U);
}

TEST_F(MemoryLimits, Rule26_Version2AsksAllGroupsAbove) {
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/memory.max", "1000000\n");
  put("/sys/fs/cgroup/a/memory.current", "400000\n");
  EXPECT_EQ(available_memory(root_.path()), 600000U);
}

TEST_F(MemoryLimits, PathThatTheContainerDoesNotShowStillCountsItsMount) {
  put("/proc/self/cgroup", "0::/outside/of/here\n");
  put("/sys/fs/cgroup/memory.max", "4096\n");
  put("/sys/fs/cgroup/memory.current", "96\n");
  EXPECT_EQ(available_memory(root_.path()), 4000U);
}

TEST_F(MemoryLimits, Rule26_FullGroupLeavesNothing) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "4096\n");
  put("/sys/fs/cgroup/memory.current", "5000\n");
  EXPECT_EQ(available_memory(root_.path()), 0U);
}

TEST_F(MemoryLimits, OddFilesAreNoLimitAndNoCrash) {
  put("/proc/self/cgroup", "0::no/slash/in/front\n4:memory:none\n");
  put("/proc/meminfo", "MemAvailable: 99999999999999999999 kB\n");
  EXPECT_GE(available_memory(root_.path()), kNoLimit / 2);
}

TEST(Settings, WithoutNamesWhatIsMissing) {
  struct {
    const char* value;
    bool has_wait_values;
    bool has_indirect_copies;
  } const rows[] = {{"", true, true},
                    {"wait-value", false, true},
                    {"indirect-copy", true, false},
                    {"indirect-copy,wait-value", false, false},
                    {"nothing,wait-value,", false, true}};
  for (const auto& row : rows) {
    setenv("HIP_PORTABLE_WITHOUT", row.value, 1);
    const hip_portable::Settings settings = hip_portable::read_settings();
    EXPECT_EQ(settings.has_wait_values, row.has_wait_values) << row.value;
    EXPECT_EQ(settings.has_indirect_copies, row.has_indirect_copies) << row.value;
  }
  unsetenv("HIP_PORTABLE_WITHOUT");
}

TEST(Settings, BytesHaveUnits) {
  std::uint64_t bytes = 0;
  EXPECT_TRUE(parse_bytes("4096", &bytes));
  EXPECT_EQ(bytes, 4096U);
  EXPECT_TRUE(parse_bytes("3k", &bytes));
  EXPECT_EQ(bytes, 3072U);
  EXPECT_TRUE(parse_bytes("2GiB", &bytes));
  EXPECT_EQ(bytes, std::uint64_t{2} << 30);
  EXPECT_TRUE(parse_bytes("1TB", &bytes));
  EXPECT_EQ(bytes, std::uint64_t{1} << 40);
}

TEST(Settings, OtherTextIsNoNumberOfBytes) {
  std::uint64_t bytes = 0;
  for (const char* text : {"5 ", "", "-1", "M", "1X", "1MM", "1.5G", "99999999999T", "0x10"}) {
    EXPECT_FALSE(parse_bytes(text, &bytes)) << text;
  }
}

}  // namespace
