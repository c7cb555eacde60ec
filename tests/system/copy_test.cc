// SPDX-License-Identifier: MIT
// Copies by both programs, byte for byte, on whatever file system HIPFILE_TEST_DIR lies on. The
// matrix of file systems is made by CMake: one ctest for each.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "copy_programs.h"
#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

std::string program_name(const testing::TestParamInfo<CopyProgram>& program) {
  return program.param.name;
}

class CopyTest : public testing::TestWithParam<CopyProgram> {
 protected:
  std::string from() const { return dir_.file("from"); }
  std::string to() const { return dir_.file("to"); }

  void expect_copied(const std::vector<std::string>& environment = {}) {
    const ProcessResult result = copy(GetParam(), from(), to(), environment);
    EXPECT_EQ(0, result.exit_code) << result.err;
    EXPECT_EQ("", result.out);
    if (result.exit_code == 0) {
      EXPECT_EQ("", compare_files(to(), from()));
    }
  }

  TempDir dir_;
};

TEST_P(CopyTest, EverySizeIsCopiedByteForByte) {
  for (uint64_t size :
       {uint64_t{0}, uint64_t{1}, uint64_t{511}, uint64_t{512}, uint64_t{513}, uint64_t{4095},
        uint64_t{4096}, uint64_t{4097}, 8 * kMiB - 1, 8 * kMiB, 8 * kMiB + 1, 100 * kMiB + 1}) {
    SCOPED_TRACE(size);
    make_large_file(from(), size);
    expect_copied();
    std::remove(to().c_str());
  }
}

TEST_P(CopyTest, OldLongerDestinationIsReplaced) {
  for (size_t size : {0ul, 1ul, 5000ul, 4096ul}) {
    SCOPED_TRACE(size);
    write_file(from(), make_pattern(size, 1));
    write_file(to(), make_pattern(300000, 2));
    expect_copied();
  }
}

TEST_P(CopyTest, NothingIsLeftBesideTheCopy) {
  write_file(from(), make_pattern(5000, 1));
  expect_copied();
  const ProcessResult listing = run_process({"ls", "-A", dir_.path()});
  EXPECT_EQ("from\nto\n", listing.out);
}

TEST_P(CopyTest, HolesReadAsZeros) {
  write_file(from(), make_pattern(4096, 1));
  ASSERT_EQ(0, ::truncate(from().c_str(), static_cast<off_t>(20 * kMiB + 3)));
  expect_copied();
}

INSTANTIATE_TEST_SUITE_P(, CopyTest, testing::ValuesIn(copy_programs()), program_name);

}  // namespace
}  // namespace hipfile::test
