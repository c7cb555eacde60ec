// SPDX-License-Identifier: MIT
// Copies around the cap of one transfer (0x7ffff000 bytes), and of a sparse file of 5 GiB.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "copy_programs.h"
#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

constexpr uint64_t kCap = 0x7ffff000;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// Memory that the system says it could give.
uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  uint64_t value = 0;
  while (file >> key >> value >> unit) {
    if (key == "MemAvailable:") return value << 10;
  }
  return 0;
}

class BigCopyTest : public testing::TestWithParam<CopyProgram> {
 protected:
  void SetUp() override {
    struct statvfs st {};
    ASSERT_EQ(0, ::statvfs(dir_.path().c_str(), &st));
    const uint64_t room = static_cast<uint64_t>(st.f_bavail) * st.f_frsize;
    if (room < 6 * kGiB) GTEST_SKIP() << "only " << room / kGiB << " GiB of room for big files";
    // Source and destination may lie in memory, and the example's buffer is 2 GiB.
    const uint64_t memory = available_memory();
    if (memory < 9 * kGiB) GTEST_SKIP() << "only " << memory / kGiB << " GiB of free memory";
  }
  std::string from() const { return dir_.file("from"); }
  std::string to() const { return dir_.file("to"); }

  void expect_copied() {
    const ProcessResult result = copy(GetParam(), from(), to());
    EXPECT_EQ(0, result.exit_code) << result.err;
    if (result.exit_code == 0) {
      EXPECT_EQ("", compare_files(to(), from()));
    }
    std::remove(to().c_str());
  }

  TempDir dir_;
};

// The example copies by calls of any size, the tool by chunks, which the cap does not meet.
TEST_P(BigCopyTest, SizesAroundTheCapOfOneTransfer) {
  make_large_file(from(), kCap + 1);
  std::vector<uint64_t> sizes{kCap + 1};
  if (GetParam().name == "Example") sizes.insert(sizes.end(), {kCap, kCap - 1});
  for (uint64_t size : sizes) {
    SCOPED_TRACE(size);
    ASSERT_EQ(0, ::truncate(from().c_str(), static_cast<off_t>(size)));
    expect_copied();
  }
}

TEST_P(BigCopyTest, SparseFileWithDataAtBothEnds) {
  write_file(from(), make_pattern(100000, 1));
  ASSERT_EQ(0, ::truncate(from().c_str(), static_cast<off_t>(5 * kGiB - 100000)));
  {
    Fd fd(from(), O_WRONLY | O_APPEND);
    const std::vector<uint8_t> tail = make_pattern(100000, 2);
    ASSERT_EQ(100000, ::write(fd.get(), tail.data(), tail.size()));
  }
  ASSERT_EQ(static_cast<off_t>(5 * kGiB), file_size(from()));
  expect_copied();
}

INSTANTIATE_TEST_SUITE_P(, BigCopyTest, testing::ValuesIn(copy_programs()),
                         [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace hipfile::test
