// SPDX-License-Identifier: MIT
// The library where the file is not as usual: full disks, block devices. Needs root.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "api_fixture.h"
#include "file_systems.h"

namespace hipfile::test {
namespace {

class FullDiskTest : public ApiTest, public testing::WithParamInterface<const char*> {};

TEST_P(FullDiskTest, PartialCountThenEnospc) {
  FileSystem disk;
  const std::string reason = disk.mount(GetParam(), GetParam()[0] == 'e' ? 24 : 320);
  if (!reason.empty()) GTEST_SKIP() << reason;
  const size_t size = 400 << 20;
  Buffer buffer(size);
  buffer.fill(0x77);
  Fd fd(disk.path() + "/f", O_RDWR | O_CREAT);
  hipFileHandle_t handle = register_fd(fd.get());
  const ssize_t n = hipFileWrite(handle, buffer.data(), size, 0, 0);
  // One O_DIRECT write that meets a full disk fails as a whole in the kernel; the ring's chunks
  // that were written before are told.
  const char* forced = std::getenv("HIPFILE_FORCE_COMPAT_MODE");
  if (n < 0) {
    EXPECT_EQ(ENOSPC, errno);
    EXPECT_TRUE(forced == nullptr || std::string(forced) != "true") << "nothing reported written";
    return;
  }
  EXPECT_LT(n, static_cast<ssize_t>(size));
  struct stat st {};
  ASSERT_EQ(0, ::fstat(fd.get(), &st));
  EXPECT_GE(st.st_size, n);  // nothing is reported done that is not
  Buffer back(static_cast<size_t>(n));
  EXPECT_EQ(n, hipFileRead(handle, back.data(), static_cast<size_t>(n), 0, 0));
  const std::vector<uint8_t> bytes = back.get();
  EXPECT_EQ(n, std::count(bytes.begin(), bytes.end(), uint8_t{0x77}));
  ssize_t more = n;
  for (int turn = 0; turn < 50 && more > 0; ++turn) {
    more = hipFileWrite(handle, buffer.data(), 8 << 20, (1l << 30) + turn * (8l << 20), 0);
  }
  EXPECT_EQ(-1, more);
  EXPECT_EQ(ENOSPC, errno);
}

INSTANTIATE_TEST_SUITE_P(, FullDiskTest, testing::Values("ext4-512", "ext4-4096", "xfs-512"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

class BlockDeviceTest : public ApiTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    const std::string reason = disk_.attach(GetParam(), 32);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  LoopDisk disk_;
};

TEST_P(BlockDeviceTest, RoundTripAtAnyOffset) {
  const size_t size = (3 << 20) + 777;
  Fd fd(disk_.device(), O_RDWR);
  hipFileHandle_t handle = register_fd(fd.get());
  Buffer buffer(4 << 20);
  for (hoff_t offset : {0l, 4096l, 12345l}) {
    buffer.set(make_pattern(size, static_cast<uint64_t>(offset) + 1));
    ASSERT_EQ(static_cast<ssize_t>(size), hipFileWrite(handle, buffer.data(), size, offset, 0));
    buffer.fill(0);
    ASSERT_EQ(static_cast<ssize_t>(size), hipFileRead(handle, buffer.data(), size, offset, 5));
    EXPECT_EQ("", first_difference(buffer.get(5, size),
                                   make_pattern(size, static_cast<uint64_t>(offset) + 1)));
  }
}

TEST_P(BlockDeviceTest, EndOfTheDeviceIsTheEndOfTheFile) {
  const hoff_t end = 32 << 20;
  Fd fd(disk_.device(), O_RDWR);
  hipFileHandle_t handle = register_fd(fd.get());
  Buffer buffer(65536);
  EXPECT_EQ(4096, hipFileRead(handle, buffer.data(), 65536, end - 4096, 0));
  EXPECT_EQ(100, hipFileRead(handle, buffer.data(), 65536, end - 100, 0));
  EXPECT_EQ(0, hipFileRead(handle, buffer.data(), 65536, end, 0));
  EXPECT_EQ(4096, hipFileWrite(handle, buffer.data(), 65536, end - 4096, 0));
  EXPECT_ERRNO(ENOSPC, hipFileWrite(handle, buffer.data(), 65536, end, 0));
}

// Descriptors of this process that may write to a path.
int writable_descriptors(const std::string& path) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) != path) continue;
    const int flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) ++count;
  }
  return count;
}

TEST_P(BlockDeviceTest, Rule18_WritableViewIsOpenedAtTheFirstWrite) {
  Fd fd(disk_.device(), O_RDWR);
  hipFileHandle_t handle = register_fd(fd.get());
  Buffer buffer(65536);
  const int before = writable_descriptors(disk_.device());
  EXPECT_EQ(65536, hipFileRead(handle, buffer.data(), 65536, 0, 0));
  EXPECT_EQ(before, writable_descriptors(disk_.device()));
  EXPECT_EQ(65536, hipFileWrite(handle, buffer.data(), 65536, 0, 0));
  EXPECT_EQ(before + 1, writable_descriptors(disk_.device()));
}

INSTANTIATE_TEST_SUITE_P(, BlockDeviceTest, testing::Values("512", "4096"),
                         [](const auto& sector) { return sector.param; });

}  // namespace
}  // namespace hipfile::test
