// SPDX-License-Identifier: MIT
// Rule 22: what lies in the page cache is read from there, the rest past it, by what cachestat
// tells; and where that is silent, refused or blind the client's own O_DIRECT flag decides. The
// fast path of the emulated device asks for reads of every size, and goes past the cache in doubt.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "apart.h"
#include "modes.h"
#include "page_cache.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kBorder = 32 * kMiB;  // of two windows
constexpr size_t kPages = kMiB / kPage;

// A file across the border of two windows, cold.
class ColdFileTest : public ApartTest {
 protected:
  void SetUp() override {
    ApartTest::SetUp();
    if (IsSkipped()) return;
    own_ = Fd(file("f"), O_RDWR | O_CREAT);  // a hole up to what is read
    const std::vector<uint8_t> bytes = make_pattern(3 * kMiB, 1, kBorder - kMiB);
    ASSERT_EQ(static_cast<ssize_t>(3 * kMiB),
              ::pwrite(own_.get(), bytes.data(), bytes.size(), kBorder - kMiB));
    drop_cache(own_.get());
    ASSERT_EQ(0u, cached(kBorder, 2 * kMiB));
  }

  size_t cached(size_t offset, size_t size) const { return cached_pages(own_.get(), offset, size); }

  // In a process of its own.
  static hipFileHandle_t read_into(MemoryKind kind, int fd, size_t offset, size_t size) {
    const hipFileHandle_t handle = register_fd(fd);
    Buffer buffer(size, kind);
    EXPECT_EQ(static_cast<ssize_t>(size),
              hipFileRead(handle, buffer.data(), size, static_cast<hoff_t>(offset), 0));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, 1, offset)));
    return handle;
  }

  Fd own_;
};

// Read into the given kind of memory; device memory through the ring.
class ResidencyTest : public ColdFileTest, public testing::WithParamInterface<MemoryKind> {
 protected:
  static void read(int fd, size_t offset, size_t size) {
    ::setenv("HIPFILE_FORCE_COMPAT_MODE", "true", 1);
    read_into(GetParam(), fd, offset, size);
  }
};

TEST_P(ResidencyTest, Rule22_WindowsAreJudgedOneByOne) {
  warm_cache(own_.get(), kBorder - kMiB, kMiB);
  EXPECT_APART([this] { read(own_.get(), kBorder - kMiB, 2 * kMiB); });
  EXPECT_EQ(0u, cached(kBorder, 2 * kMiB)) << "a cold window was read through the cache";
}

TEST_P(ResidencyTest, Rule22_HalfResidentIsReadFromTheCache) {
  warm_cache(own_.get(), kBorder, kMiB);
  ASSERT_EQ(kPages, cached(kBorder, 2 * kMiB));
  EXPECT_APART([this] { read(own_.get(), kBorder, 2 * kMiB); });
  EXPECT_EQ(2 * kPages, cached(kBorder, 2 * kMiB));
}

TEST_P(ResidencyTest, Rule22_LessThanHalfIsReadPastTheCache) {
  warm_cache(own_.get(), kBorder, kMiB - kPage);
  ASSERT_EQ(kPages - 1, cached(kBorder, 2 * kMiB));
  EXPECT_APART([this] { read(own_.get(), kBorder, 2 * kMiB); });
  EXPECT_EQ(0u, cached(kBorder + kMiB, kMiB));
}

TEST_P(ResidencyTest, Rule22_OneDirtyPageKeepsTheWindowInTheCache) {
  const std::vector<uint8_t> page = make_pattern(kPage, 1, kBorder);
  ASSERT_EQ(static_cast<ssize_t>(kPage), ::pwrite(own_.get(), page.data(), kPage, kBorder));
  EXPECT_APART([this] { read(own_.get(), kBorder, 2 * kMiB); });
  EXPECT_EQ(2 * kPages, cached(kBorder, 2 * kMiB));
}

TEST_P(ResidencyTest, Rule22_NothingIsAskedUpToOneMebibyte) {
  const auto read_without_cachestat = [this](size_t size) {
    return run_apart([&] {
      ASSERT_TRUE(refuse_calls({{SYS_cachestat, Refusal::kKills}}));
      read(own_.get(), kBorder, size);
    });
  };
  EXPECT_EQ(0, read_without_cachestat(kMiB));
  EXPECT_EQ(128 + SIGSYS, read_without_cachestat(kMiB + 1)) << "the trap does not work";
}

TEST_P(ResidencyTest, Rule22_NoReadStartsReadahead) {
  EXPECT_APART([this] {
    ASSERT_TRUE(refuse_calls({{SYS_preadv2, Refusal::kKills}}));  // RWF_NOWAIT would be there
    read(own_.get(), kBorder, 2 * kMiB);
  });
}

TEST_P(ResidencyTest, Rule22_WhereItIsRefusedTheClientsFlagDecides) {
  for (const int error : {EPERM, ENOSYS}) {
    const Fd direct(file("f"), O_RDWR | direct_flag_of(dir_.path()));
    drop_cache(own_.get());
    EXPECT_APART([&] {
      ASSERT_TRUE(refuse_calls({{SYS_cachestat, error}}));
      read(direct.get(), kBorder, 2 * kMiB);
    });
    EXPECT_EQ(0u, cached(kBorder, 2 * kMiB));
    EXPECT_APART([&] {
      ASSERT_TRUE(refuse_calls({{SYS_cachestat, error}}));
      read(own_.get(), kBorder, 2 * kMiB);
    });
    EXPECT_EQ(2 * kPages, cached(kBorder, 2 * kMiB));
  }
}

TEST_P(ResidencyTest, Rule22_ForThoseWhoDoNotOwnTheFileTheirFlagDecides) {
  for (const int direct : {direct_flag_of(dir_.path()), 0}) {
    ASSERT_EQ(0, ::chmod(file("f").c_str(), 0644));
    drop_cache(own_.get());
    EXPECT_APART([&] {
      ASSERT_TRUE(become_nobody());
      const Fd fd(file("f"), O_RDONLY | direct);
      read(fd.get(), kBorder, 2 * kMiB);
    });
    EXPECT_EQ(direct != 0 ? 0 : 2 * kPages, cached(kBorder, 2 * kMiB));
  }
}

// On overlay cachestat reports nothing cached, not even what was just read.
class BlindResidencyTest : public ResidencyTest {};

TEST_P(BlindResidencyTest, Rule22_WhereItIsBlindTheClientsFlagDecides) {
  EXPECT_APART([this] { read(own_.get(), kBorder, 2 * kMiB); });
  EXPECT_EQ(2 * kPages, cached(kBorder, 2 * kMiB))
      << "a buffered descriptor was read past the cache";
}

class FastpathResidencyTest : public ColdFileTest {
 protected:
  void SetUp() override {
    if (has_kernel_rules()) GTEST_SKIP() << "AMD's fast path never reads from the page cache";
    ColdFileTest::SetUp();
  }
  static void read(int fd, size_t offset, size_t size) {
    ::unsetenv("HIPFILE_FORCE_COMPAT_MODE");
    const hipFileHandle_t handle = read_into(MemoryKind::kDevice, fd, offset, size);
    Buffer buffer(size, MemoryKind::kDevice);
    hipFileExtPath_t path{};
    EXPECT_CODE(hipFileSuccess,
                hipFileExtQueryPath(handle, buffer.data(), size, 0, 0, hipFileBatchRead, &path));
    if (path.backend != hipFileExtBackendFastpath) GTEST_SKIP() << "no fast path here";
  }
};

TEST_F(FastpathResidencyTest, Rule22_WindowsAreJudgedOneByOne) {
  warm_cache(own_.get(), kBorder - kMiB, kMiB);
  EXPECT_APART([this] { read(own_.get(), kBorder - kMiB, 2 * kMiB); });
  EXPECT_EQ(0u, cached(kBorder, 2 * kMiB)) << "a cold window was read through the cache";
}

TEST_F(FastpathResidencyTest, Rule22_HalfResidentIsReadFromTheCache) {
  for (const size_t size : {2 * kMiB, size_t{64} << 10, 2 * kPage}) {
    drop_cache(own_.get());
    warm_cache(own_.get(), kBorder, size / 2);
    EXPECT_APART([&] { read(own_.get(), kBorder, size); });
    EXPECT_EQ(size / kPage, cached(kBorder, size)) << "of " << size;
  }
}

TEST_F(FastpathResidencyTest, Rule22_LessThanHalfIsReadPastTheCache) {
  for (const size_t size : {2 * kMiB, size_t{64} << 10, kPage}) {
    drop_cache(own_.get());
    if (size > kPage) warm_cache(own_.get(), kBorder, size / 2 - kPage);
    EXPECT_APART([&] { read(own_.get(), kBorder, size); });
    const size_t half = size / 2 / kPage * kPage;
    EXPECT_EQ(0u, cached(kBorder + half, size - half)) << "of " << size;
  }
}

TEST_F(FastpathResidencyTest, Rule22_OneDirtyPageKeepsTheWindowInTheCache) {
  const std::vector<uint8_t> page = make_pattern(kPage, 1, kBorder);
  ASSERT_EQ(static_cast<ssize_t>(kPage), ::pwrite(own_.get(), page.data(), kPage, kBorder));
  EXPECT_APART([this] { read(own_.get(), kBorder, 2 * kMiB); });
  EXPECT_EQ(2 * kPages, cached(kBorder, 2 * kMiB));
}

TEST_F(FastpathResidencyTest, Rule22_WhereItIsRefusedTheCacheIsPassed) {
  warm_cache(own_.get(), kBorder, kMiB);
  EXPECT_APART([this] {
    ASSERT_TRUE(refuse_calls({{SYS_cachestat, EPERM}}));
    read(own_.get(), kBorder, 2 * kMiB);
  });
  EXPECT_EQ(kPages, cached(kBorder, 2 * kMiB));
}

std::string kind_name(const testing::TestParamInfo<MemoryKind>& info) {
  return memory_kind_name(info.param);
}
const auto kKinds = testing::Values(MemoryKind::kPinned, MemoryKind::kDevice);
INSTANTIATE_TEST_SUITE_P(, ResidencyTest, kKinds, kind_name);
INSTANTIATE_TEST_SUITE_P(, BlindResidencyTest, kKinds, kind_name);

}  // namespace
}  // namespace hipfile::test
