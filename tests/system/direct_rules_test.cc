// SPDX-License-Identifier: MIT
// Rule 20: what the library says of direct I/O on each file system, held against what the page
// cache then holds; on this kernel, and on one that reports no alignments.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "apart.h"
#include "file_systems.h"
#include "modes.h"
#include "page_cache.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

struct Said {
  size_t offset_alignment;
  bool reads_direct, writes_direct;
};

struct Row {
  const char* file_system;
  unsigned mebibytes;
  Said now;   // where statx reports alignments
  Said then;  // where it does not, as before Linux 6.1
};

constexpr Row kRows[] = {
    {"ext4-512", 64, {512, true, true}, {4096, true, true}},
    {"ext4-4096", 64, {4096, true, true}, {4096, true, true}},
    {"ext4-journal", 64, {4096, false, false}, {4096, false, false}},
    {"xfs-512", 320, {512, true, true}, {4096, true, true}},
    {"xfs-4096", 320, {4096, true, true}, {4096, true, true}},
    {"btrfs", 256, {4096, true, false}, {4096, true, false}},
    {"tmpfs", 64, {4096, false, false}, {4096, false, false}},
    // Before 6.1 nobody knows what lies below; the bytes go where the client wished.
    {"overlay", 64, {512, true, true}, {4096, false, false}},
    {"fuse", 64, {0, false, false}, {0, false, false}},
};

class DirectTest : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    const std::string reason = disk_.mount(GetParam().file_system, GetParam().mebibytes);
    if (!reason.empty()) GTEST_SKIP() << reason;
    path_ = disk_.path() + "/f";
  }

  // The client asks for O_DIRECT wherever the file system takes it.
  Fd open_file() const {
    write_file(path_, make_pattern(4 * kMiB, 1));
    Fd fd(path_, O_RDWR | direct_flag_of(disk_.path()));
    drop_cache(fd.get());
    return fd;
  }

  static hipFileExtPath_t query(hipFileHandle_t handle, const Buffer& buffer, hoff_t offset,
                                hipFileOpcode_t opcode, hoff_t buffer_offset = 0) {
    hipFileExtPath_t path{};
    EXPECT_CODE(hipFileSuccess, hipFileExtQueryPath(handle, buffer.data(), kMiB, offset,
                                                    buffer_offset, opcode, &path));
    return path;
  }
  static void expect_said(bool is_direct, const hipFileExtPath_t& path) {
    EXPECT_EQ(is_direct ? hipFileExtCachingDirect : hipFileExtCachingCache, path.caching);
    EXPECT_EQ(is_direct ? kMiB : 0, path.direct_bytes);
  }

  void expect_said(const Said& said) const {
    const Fd fd = open_file();
    const hipFileHandle_t handle = register_fd(fd.get());
    const hipFileExtFileInfo_t info = info_of(handle);
    EXPECT_EQ(said.reads_direct, info.reads_direct == 1);
    EXPECT_EQ(said.writes_direct, info.writes_direct == 1);
    EXPECT_EQ(said.offset_alignment, info.offset_alignment);
    for (const MemoryKind kind : {MemoryKind::kPinned, MemoryKind::kDevice}) {
      const Buffer buffer(kMiB + kPage, kind);
      expect_said(said.reads_direct, query(handle, buffer, 0, hipFileBatchRead));
      expect_said(said.writes_direct, query(handle, buffer, 2 * kMiB, hipFileBatchWrite));
    }
    // An address of the program's that O_DIRECT does not take.
    const Buffer buffer(kMiB + kPage, MemoryKind::kPinned);
    expect_said(false, query(handle, buffer, 0, hipFileBatchRead, 8));
    expect_said(false, query(handle, buffer, 2 * kMiB, hipFileBatchWrite, 8));
  }

  // Direct bytes leave nothing in the cache, cached ones do, but for those that btrfs writes: it
  // drops them itself.
  void expect_done(const Said& said) const {
    const bool is_btrfs = std::string(GetParam().file_system) == "btrfs";
    for (const MemoryKind kind : {MemoryKind::kPinned, MemoryKind::kDevice}) {
      const Fd fd = open_file();
      const hipFileHandle_t handle = register_fd(fd.get());
      Buffer buffer(kMiB, kind);
      ASSERT_EQ(static_cast<ssize_t>(kMiB), hipFileRead(handle, buffer.data(), kMiB, 0, 0));
      EXPECT_EQ(said.reads_direct, cached_pages(fd.get(), 0, kMiB) == 0);
      ASSERT_EQ(static_cast<ssize_t>(kMiB), hipFileWrite(handle, buffer.data(), kMiB, 2 * kMiB, 0));
      if (!is_btrfs) {
        EXPECT_EQ(said.writes_direct, cached_pages(fd.get(), 2 * kMiB, kMiB) == 0);
      }
      hipFileHandleDeregister(handle);
    }
  }

  FileSystem disk_;
  std::string path_;
};

TEST_P(DirectTest, Rule20_WhatIsSaidIsWhatTheCacheShows) {
  EXPECT_APART([this] {
    expect_said(GetParam().now);
    expect_done(GetParam().now);
  });
}

TEST_P(DirectTest, Rule20_MountDataDecidesWhereTheKernelReportsNothing) {
  EXPECT_APART([this] {
    ASSERT_TRUE(refuse_calls({{SYS_statx, ENOSYS}}));
    expect_said(GetParam().then);
    if (std::string(GetParam().file_system) != "overlay") expect_done(GetParam().then);
  });
}

INSTANTIATE_TEST_SUITE_P(, DirectTest, testing::ValuesIn(kRows), [](const auto& row) {
  std::string name = row.param.file_system;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class MountFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << "no direct path there";
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    for (const auto& [disk, name] :
         {std::pair(&ordered_, "ext4-512"), {&journal_, "ext4-journal"}}) {
      const std::string reason = disk->mount(name, 64);
      if (!reason.empty()) GTEST_SKIP() << reason;
    }
  }

  // Why the fast path does not take an aligned read of a fresh file there.
  static hipFileExtRefusal_t refusal_on(const FileSystem& disk, const std::string& name) {
    const std::string path = disk.path() + "/" + name;
    write_file(path, make_pattern(65536, 1));
    const Fd fd(path, O_RDWR | O_DIRECT);
    const hipFileHandle_t handle = register_fd(fd.get());
    const Buffer buffer(65536);
    hipFileExtPath_t answer{};
    EXPECT_CODE(hipFileSuccess,
                hipFileExtQueryPath(handle, buffer.data(), 65536, 0, 0, hipFileBatchRead, &answer));
    hipFileHandleDeregister(handle);
    return answer.refusals[hipFileExtBackendFastpath];
  }

  FileSystem ordered_, journal_;
};

TEST_F(MountFactsTest, Rule20_FactsAreKeptPerDevice) {
  EXPECT_APART([this] {
    ASSERT_TRUE(enter_private_mounts());
    EXPECT_EQ(hipFileExtRefusalNone, refusal_on(ordered_, "a"));
    EXPECT_EQ(hipFileExtRefusalFileSystem, refusal_on(journal_, "a"));
    ASSERT_TRUE(hide("/proc"));
    EXPECT_EQ(hipFileExtRefusalNone, refusal_on(ordered_, "b")) << "the mount table was read again";
    EXPECT_EQ(hipFileExtRefusalFileSystem, refusal_on(journal_, "b"));
  });
}

TEST_F(MountFactsTest, Rule20_WhatCouldNotBeReadIsAskedAgain) {
  EXPECT_APART([this] {
    ASSERT_TRUE(enter_private_mounts());
    ASSERT_TRUE(hide("/proc"));
    EXPECT_EQ(hipFileExtRefusalFileSystem, refusal_on(ordered_, "a"));
    ASSERT_EQ(0, ::mount("proc", "/proc", "proc", 0, nullptr));
    EXPECT_EQ(hipFileExtRefusalNone, refusal_on(ordered_, "b"));
  });
}

TEST(BlockDeviceFactsTest, Rule20_BlockDevicesAreDirect) {
  LoopDisk disk;
  const std::string reason = ::geteuid() != 0 ? "not root" : disk.attach("512", 8);
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const bool is_old : {false, true}) {
    EXPECT_APART([&] {
      if (is_old) {
        ASSERT_TRUE(refuse_calls({{SYS_statx, ENOSYS}}));
      }
      const Fd fd(disk.device(), O_RDWR);
      const hipFileExtFileInfo_t info = info_of(register_fd(fd.get()));
      EXPECT_EQ(1, info.reads_direct);
      EXPECT_EQ(1, info.writes_direct);
      EXPECT_LE(512u, info.offset_alignment);
      EXPECT_LE(kPage, info.write_alignment);
    });
  }
}

}  // namespace
}  // namespace hipfile::test
