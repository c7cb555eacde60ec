// SPDX-License-Identifier: MIT
// Rule 24: io_uring where it works, threads where it does not, the bytes right in either case; one
// ring for each thread.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <thread>
#include <vector>

#include "apart.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = 3 << 20;

class UringTest : public ApartTest {
 protected:
  void SetUp() override {
    ApartTest::SetUp();
    write_file(file("f"), make_pattern(kSize, 1));
    ASSERT_EQ(0, ::chmod(file("f").c_str(), 0666));
  }

  // Through the ring of pinned memory and the engine, large and small.
  void expect_works() {
    ::setenv("HIPFILE_FORCE_COMPAT_MODE", "true", 1);
    const Fd fd(file("f"), O_RDWR | direct_flag_of(dir_.path()));
    const hipFileHandle_t handle = register_fd(fd.get());
    for (const size_t size : {kSize, size_t{4096}, size_t{1000}}) {
      expect_writes(handle, size, size);
      expect_reads(handle, size, size);
    }
    expect_reads(handle, 1000, 1000, MemoryKind::kHost);
  }

  static std::string engine() { return hipFileExtEngine(nullptr); }
  static std::string reason() {
    const char* text = nullptr;
    (void)hipFileExtEngine(&text);
    return text;
  }

  // Rings that this process has.
  static size_t rings() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const auto path = std::filesystem::read_symlink(entry.path(), ignored);
      count += path == "anon_inode:[io_uring]" ? 1 : 0;
    }
    return count;
  }
};

struct Forbidden {
  const char* name;
  long call;
  int error;
  const char* engine;
  const char* reason;
};

constexpr Forbidden kForbidden[] = {
    {"SetupMissing", SYS_io_uring_setup, ENOSYS, "threads", "no io_uring"},
    {"SetupForbidden", SYS_io_uring_setup, EPERM, "threads", "forbidden"},
    {"SetupWithoutMemory", SYS_io_uring_setup, ENOMEM, "threads", "RLIMIT_MEMLOCK"},
    {"EnterForbidden", SYS_io_uring_enter, EPERM, "threads", "forbidden"},
    {"RegisterForbidden", SYS_io_uring_register, EPERM, "uring", "works"},
};

class ForbiddenUringTest : public UringTest, public testing::WithParamInterface<Forbidden> {};

TEST_P(ForbiddenUringTest, Rule24_WhatWorksIsTakenAndTheReasonTold) {
  for (const char* wish : {"", "uring"}) {
    EXPECT_APART([&] {
      ::setenv("HIPFILE_ENGINE", wish, 1);
      ASSERT_TRUE(refuse_calls({{GetParam().call, GetParam().error}}));
      expect_works();
      EXPECT_EQ(GetParam().engine, engine());
      if (engine() == "threads" || wish[0] == '\0') {
        EXPECT_NE(std::string::npos, reason().find(GetParam().reason)) << reason();
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, ForbiddenUringTest, testing::ValuesIn(kForbidden),
                         [](const auto& row) { return row.param.name; });

// The engine is chosen when the library is first used; a ring that cannot be had later is no error.
TEST_F(UringTest, Rule24_ThreadThatGetsNoRingWorksWithoutOne) {
  EXPECT_APART([this] {
    ::setenv("HIPFILE_ENGINE", "uring", 1);
    ASSERT_EQ("uring", engine());
    ASSERT_TRUE(refuse_calls({{SYS_io_uring_setup, EMFILE}}));
    expect_works();
    EXPECT_EQ(0u, rings());
  });
}

TEST_F(UringTest, Rule24_OrdinaryUserWithLittleLockableMemory) {
  for (const rlim_t most : {rlim_t{64 << 10}, rlim_t{0}}) {
    EXPECT_APART([&] {
      const rlimit limit = {most, most};
      ASSERT_EQ(0, ::setrlimit(RLIMIT_MEMLOCK, &limit));
      ASSERT_TRUE(become_nobody());
      expect_works();
    });
  }
}

TEST_F(UringTest, Rule24_EachThreadHasOneRing) {
  EXPECT_APART([this] {
    ::setenv("HIPFILE_ENGINE", "uring", 1);
    expect_works();
    ASSERT_EQ("uring", engine());
    expect_works();
    EXPECT_EQ(1u, rings());
    constexpr size_t kThreads = 3;
    std::barrier<> all_have_read(kThreads + 1), all_are_counted(kThreads + 1);
    std::vector<std::thread> threads;
    for (size_t at = 0; at < kThreads; ++at) {
      threads.emplace_back([&] {
        const Fd fd(file("f"), O_RDWR | direct_flag_of(dir_.path()));
        const hipFileHandle_t handle = register_fd(fd.get());
        Buffer buffer(kSize);
        for (int turn = 0; turn < 2; ++turn) {
          EXPECT_EQ(static_cast<ssize_t>(kSize), hipFileRead(handle, buffer.data(), kSize, 0, 0));
        }
        all_have_read.arrive_and_wait();
        all_are_counted.arrive_and_wait();
      });
    }
    all_have_read.arrive_and_wait();
    EXPECT_EQ(1 + kThreads, rings());
    all_are_counted.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(1u, rings()) << "a thread that ended left its ring";
  });
}

}  // namespace
}  // namespace hipfile::test
