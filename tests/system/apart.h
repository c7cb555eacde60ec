// SPDX-License-Identifier: MIT
// Tests that need a process of their own: what they do to it cannot be taken back, and the library
// must not have been used in it before. The test program itself never calls the library.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>

#include "api_fixture.h"
#include "sandbox.h"

namespace hipfile::test {

// Runs `body` in a child of fork. 0 when it met no failure; 77 when it skipped itself; 128 + signal
// when a signal ended it (SIGALRM: it hung).
inline int run_apart(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    try {
      body();
    } catch (const std::exception& error) {  // GoogleTest would go on with the other tests
      ADD_FAILURE() << "exception: " << error.what();
    }
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? 77 : 0);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Needs root; the directory belongs to nobody, so that a child may become that user.
class ApartTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    ASSERT_EQ(0, ::chown(dir_.path().c_str(), 65534, 65534));
  }
  std::string file(const std::string& name) const { return dir_.file(name); }

  TempDir dir_;
};

inline hipFileExtFileInfo_t info_of(hipFileHandle_t handle) {
  hipFileExtFileInfo_t info{};
  EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(handle, &info));
  return info;
}

// A read of the first `size` bytes gives pattern `seed`.
inline void expect_reads(hipFileHandle_t handle, size_t size, uint64_t seed,
                         MemoryKind kind = MemoryKind::kDevice) {
  Buffer buffer(size, kind);
  ASSERT_EQ(static_cast<ssize_t>(size), hipFileRead(handle, buffer.data(), size, 0, 0))
      << strerror(errno);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, seed)));
}

// A write of pattern `seed` over the first `size` bytes moves them all.
inline void expect_writes(hipFileHandle_t handle, size_t size, uint64_t seed,
                          MemoryKind kind = MemoryKind::kDevice) {
  Buffer buffer(size, kind);
  buffer.set(make_pattern(size, seed));
  EXPECT_EQ(static_cast<ssize_t>(size), hipFileWrite(handle, buffer.data(), size, 0, 0))
      << strerror(errno);
}

}  // namespace hipfile::test

// `body` runs in a process of its own and must end there without a failure.
#define EXPECT_APART(...)                                                          \
  do {                                                                             \
    const int apart_ = ::hipfile::test::run_apart(__VA_ARGS__);                    \
    if (apart_ == 77) GTEST_SKIP() << "skipped in its own process (reason above)"; \
    EXPECT_EQ(0, apart_) << "the process of its own failed (above)";               \
  } while (false)
