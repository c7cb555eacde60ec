// SPDX-License-Identifier: MIT
//
// Which files hipAmdFileRead and hipAmdFileWrite take: any ext4 or xfs on a block device, and with
// HIP_PORTABLE_DIRECT=kernel only those whose disk AMD's kernel driver finds.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "hip_test.h"
#include "support/file_systems.h"
#include "support/temp_dir.h"

namespace {

using namespace hip_test;
using hipfile::test::Fd;
using hipfile::test::FileSystem;
using hipfile::test::has_kernel_rules;

constexpr char kNoPath[] = "NVIDIA's driver moves no files";

struct Row {
  const char* file_system;
  unsigned mebibytes;
  int portable;  // errno of a transfer; 0: it works
  int kernel;
};

constexpr Row kRows[] = {
    {"ext4-512", 64, 0, ENODEV},     {"ext4-4096", 64, 0, ENODEV},   {"xfs-512", 400, 0, ENODEV},
    {"xfs-4096", 400, 0, ENODEV},    {"btrfs", 256, ENODEV, ENODEV}, {"tmpfs", 8, ENODEV, ENODEV},
    {"overlay", 64, ENODEV, ENODEV}, {"fuse", 64, ENODEV, ENODEV},
};

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string name = info.param.file_system;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

struct Outcome {
  uint64_t copied = 77;
  int32_t status = 77;
};

Outcome transfer(const char* name, int fd, void* device, uint64_t size) {
  void* function = nullptr;
  EXPECT_HIP(hipSuccess, hipGetProcAddress(name, &function, HIP_VERSION, 0, nullptr));
  hipAmdFileHandle_t handle{};
  handle.fd = fd;
  Outcome outcome;
  EXPECT_HIP(hipSuccess, reinterpret_cast<hipAmdFileRead_t>(function)(
                             handle, device, size, 0, &outcome.copied, &outcome.status));
  return outcome;
}

class HipFileRules : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << kNoPath;
  }
};

TEST_P(HipFileRules, Rule28_FileSystemDecides) {
  const Row& row = GetParam();
  FileSystem disk;
  const std::string reason = disk.mount(row.file_system, row.mebibytes);
  if (!reason.empty()) GTEST_SKIP() << "no " << row.file_system << ": " << reason;
  const std::string path = disk.path() + "/data";
  hipfile::test::write_file(path, std::vector<uint8_t>(8192));
  const int opened = ::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  if (opened < 0) return;  // refuses O_DIRECT: nothing to ask for
  const int expected = has_kernel_rules() ? row.kernel : row.portable;
  const DeviceBuffer buffer(8192);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 9, 8192));
  const Outcome written = transfer("hipAmdFileWrite", opened, buffer.data(), 8192);
  EXPECT_EQ(written.status, expected);
  EXPECT_EQ(written.copied, expected == 0 ? 8192U : 0U);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 0, 8192));
  const Outcome read = transfer("hipAmdFileRead", opened, buffer.data(), 8192);
  EXPECT_EQ(read.status, expected);
  ::close(opened);
  EXPECT_EQ(contents(buffer.data(), 8192), std::vector<char>(8192, expected == 0 ? 9 : 0));
}

INSTANTIATE_TEST_SUITE_P(, HipFileRules, testing::ValuesIn(kRows), row_name);

// A short read is an error for the kernel's driver, and the count of it is lost.
TEST(HipFileRulesOfReads, Rule28_ReadPastTheEnd) {
  if (is_on_nvidia()) GTEST_SKIP() << kNoPath;
  FileSystem disk;
  const std::string reason = disk.mount("ext4-512", 64);
  if (!reason.empty()) GTEST_SKIP() << "no loop disk: " << reason;
  const std::string path = disk.path() + "/data";
  hipfile::test::write_file(path, std::vector<uint8_t>(5001));
  const Fd fd(path, O_RDWR | O_DIRECT);
  const DeviceBuffer buffer(8192);
  const Outcome outcome = transfer("hipAmdFileRead", fd.get(), buffer.data(), 8192);
  EXPECT_EQ(outcome.status, has_kernel_rules() ? ENODEV : 0);
  EXPECT_EQ(outcome.copied, has_kernel_rules() ? 0U : 5001U);
}

TEST(HipFileRulesOfReads, Rule28_WhatIsNoFileHasNoDevice) {
  if (is_on_nvidia()) GTEST_SKIP() << kNoPath;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_DIRECT), 0);
  const DeviceBuffer buffer(4096);
  EXPECT_EQ(transfer("hipAmdFileWrite", ends[1], buffer.data(), 4096).status, ENODEV);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
