// SPDX-License-Identifier: MIT
// Rule 18: the second view of files that are hard to open again, as root and as an ordinary user.
// Whatever the view, registration succeeds and the bytes are right.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "apart.h"
#include "modes.h"

namespace hipfile::test {
namespace {

enum class User { kRoot, kNobody };

class SecondViewTest : public ApartTest, public testing::WithParamInterface<User> {
 protected:
  static bool is_nobody() { return GetParam() == User::kNobody; }
  // Before the first file is made: the files belong to the user.
  static void become_user() {
    if (is_nobody()) {
      ASSERT_TRUE(become_nobody());
    }
  }

  // A second view was opened, or this file system has none for anybody.
  static void expect_view(hipFileHandle_t handle) {
    const hipFileExtFileInfo_t info = info_of(handle);
    if (info.view != hipFileExtViewNotSupported) {
      EXPECT_EQ(hipFileExtViewOk, info.view) << info.view_errno;
    }
  }
  // It could not be opened, for this reason.
  static void expect_no_view(hipFileHandle_t handle, hipFileExtViewReason_t reason, int error) {
    const hipFileExtFileInfo_t info = info_of(handle);
    if (info.view == hipFileExtViewNotSupported) return;  // none is wanted here
    EXPECT_EQ(reason, info.view) << info.view_errno;
    EXPECT_EQ(error, info.view_errno);
  }
  static void expect_round_trip(hipFileHandle_t handle) {
    for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
      const auto seed = static_cast<uint64_t>(kind) + 10;
      expect_writes(handle, 8192, seed, kind);
      expect_reads(handle, 8192, seed, kind);
    }
  }
};

TEST_P(SecondViewTest, Rule18_ViewIsOpenedWhenFirstNeeded) {
  EXPECT_APART([this] {
    become_user();
    const RegisteredFile warm(file("warm"), 8192, 1);
    expect_reads(warm.handle(), 8192, 1);
    write_file(file("f"), make_pattern(8192, 1));
    const Fd fd(file("f"), O_RDWR);
    const size_t before = open_descriptors();
    const hipFileHandle_t handle = register_fd(fd.get());
    EXPECT_EQ(before + 1, open_descriptors()) << "registration opened more than the duplicate";
    expect_reads(handle, 8192, 1);
    const bool has_view = info_of(handle).view == hipFileExtViewOk;
    EXPECT_EQ(before + (has_view ? 2 : 1), open_descriptors());
  });
}

TEST_P(SecondViewTest, Rule18_FlagsOfTheViewAreTheClientsWithDirectFlipped) {
  EXPECT_APART([this] {
    become_user();
    for (const int direct : {0, direct_flag_of(dir_.path())}) {
      write_file(file("f"), make_pattern(8192, 1));
      const Fd fd(file("f"), O_RDWR | O_DSYNC | O_NOATIME | direct);
      const hipFileHandle_t handle = register_fd(fd.get());
      expect_reads(handle, 8192, 1);
      if (info_of(handle).view != hipFileExtViewOk) continue;
      const int kept = O_ACCMODE | O_SYNC | O_DSYNC | O_NOATIME | O_APPEND;
      const int client = ::fcntl(fd.get(), F_GETFL);
      int seen = 0;
      for (int other = fd.get() + 1; other < 256; ++other) {
        const int flags = ::fcntl(other, F_GETFL);
        std::error_code ignored;
        const auto path =
            std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(other), ignored);
        if (flags < 0 || path != file("f") || (flags & O_DIRECT) == (client & O_DIRECT)) continue;
        ++seen;
        EXPECT_EQ(client & kept, flags & kept);
        EXPECT_NE(0, flags & O_NONBLOCK);
        EXPECT_NE(0, ::fcntl(other, F_GETFD) & FD_CLOEXEC);
      }
      EXPECT_EQ(1, seen);
      hipFileHandleDeregister(handle);
    }
  });
}

TEST_P(SecondViewTest, Rule18_UnnamedTemporaryFileHasBothViews) {
  EXPECT_APART([this] {
    become_user();
    const Fd fd(::open(dir_.path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    if (fd.get() < 0) GTEST_SKIP() << "no O_TMPFILE on this file system";
    const hipFileHandle_t handle = register_fd(fd.get());
    expect_view(handle);
    expect_round_trip(handle);
  });
}

TEST_P(SecondViewTest, Rule18_DeletedFileHasBothViews) {
  EXPECT_APART([this] {
    become_user();
    write_file(file("f"), make_pattern(8192, 1));
    const Fd fd(file("f"), O_RDWR);
    ASSERT_EQ(0, ::unlink(file("f").c_str()));
    const hipFileHandle_t handle = register_fd(fd.get());
    expect_view(handle);
    expect_round_trip(handle);
  });
}

TEST_P(SecondViewTest, Rule18_ReadOnlyModeFileOpenedBeforeWorksWithOneView) {
  EXPECT_APART([this] {
    become_user();
    const Fd fd(file("f"), O_RDWR | O_CREAT | O_EXCL, 0444);
    const hipFileHandle_t handle = register_fd(fd.get());
    if (is_nobody()) {
      expect_no_view(handle, hipFileExtViewNoPermission, EACCES);
    } else {
      expect_view(handle);
    }
    expect_round_trip(handle);
  });
}

TEST_P(SecondViewTest, Rule18_LeasedFileBlocksNobody) {
  EXPECT_APART([this] {
    become_user();
    std::signal(SIGIO, SIG_IGN);  // how the kernel tells the holder that somebody wants the file
    write_file(file("f"), make_pattern(8192, 1));
    const Fd fd(file("f"), O_RDWR);
    if (::fcntl(fd.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases here";
    const auto begin = std::chrono::steady_clock::now();
    const hipFileHandle_t handle = register_fd(fd.get());
    expect_no_view(handle, hipFileExtViewLeased, EAGAIN);
    expect_round_trip(handle);
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(30));  // not the kernel's 45
  });
}

TEST_P(SecondViewTest, Rule18_FifoIsRegisteredWithoutBlocking) {
  EXPECT_APART([this] {
    become_user();
    ASSERT_EQ(0, ::mkfifo(file("fifo").c_str(), 0600));
    Buffer buffer(4096);
    for (const int flags : {O_RDWR | O_NONBLOCK, O_RDONLY | O_NONBLOCK}) {
      const Fd fd(file("fifo"), flags);
      const hipFileHandle_t handle = register_fd(fd.get());
      EXPECT_EQ(hipFileExtViewFileType, info_of(handle).view);
      EXPECT_LT(hipFileRead(handle, buffer.data(), 4096, 0, 0), 0);
      hipFileHandleDeregister(handle);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SecondViewTest, testing::Values(User::kRoot, User::kNobody),
                         [](const auto& user) {
                           return user.param == User::kRoot ? "Root" : "Nobody";
                         });

class FalseProcTest : public ApartTest {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << "NVIDIA's driver needs /proc";
    ApartTest::SetUp();
  }
};

TEST_F(FalseProcTest, Rule18_WithoutProcThereIsOneViewAndItWorks) {
  EXPECT_APART([this] {
    ASSERT_TRUE(enter_private_mounts());
    ASSERT_TRUE(hide("/proc"));
    const RegisteredFile f(file("f"), 65536, 1);
    const hipFileExtViewReason_t view = info_of(f.handle()).view;
    EXPECT_TRUE(view == hipFileExtViewNoProc || view == hipFileExtViewNotSupported) << view;
    expect_reads(f.handle(), 65536, 1);
    expect_writes(f.handle(), 1000, 2);
    EXPECT_EQ("", first_difference(read_file(file("f")), [] {
                std::vector<uint8_t> bytes = make_pattern(65536, 1);
                fill_pattern(bytes.data(), 1000, 2);
                return bytes;
              }()));
  });
}

TEST_F(FalseProcTest, Rule18_AnotherFileBehindTheLinkIsNotTaken) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(8192, 1));
    write_file(file("other"), make_pattern(8192, 2));
    ASSERT_TRUE(enter_private_mounts());
    ASSERT_TRUE(hide("/proc"));
    ASSERT_EQ(0, ::mount("tmpfs", "/proc", "tmpfs", 0, nullptr));
    std::filesystem::create_directories("/proc/self/fd");
    for (int fd = 3; fd < 64; ++fd) {
      std::filesystem::create_symlink(file("other"), "/proc/self/fd/" + std::to_string(fd));
    }
    const Fd fd(file("f"), O_RDWR);
    const hipFileHandle_t handle = register_fd(fd.get());
    const hipFileExtViewReason_t view = info_of(handle).view;
    EXPECT_TRUE(view == hipFileExtViewChanged || view == hipFileExtViewNotSupported) << view;
    expect_reads(handle, 8192, 1);
    expect_writes(handle, 8192, 3);
    EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(8192, 3)));
    EXPECT_EQ("", first_difference(read_file(file("other")), make_pattern(8192, 2)));
  });
}

}  // namespace
}  // namespace hipfile::test
