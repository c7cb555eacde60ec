// SPDX-License-Identifier: MIT
// What a call leaves behind for the thread: the last error of HIP, and errno.
#include <sys/resource.h>

#include <csignal>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class ErrorStateTest : public ApiTest {
 protected:
  // One call of every kind that fails, each at another place.
  static void fail_everywhere(const RegisteredFile& f) {
    Buffer buffer(4096);
    char host[64] = {};
    EXPECT_GT(0, hipFileRead(f.handle(), nullptr, 4096, 0, 0));
    EXPECT_GT(0, hipFileRead(f.handle(), buffer.data(), 8192, 0, 0));
    EXPECT_GT(0, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 1 << 20));
    EXPECT_GT(0, hipFileRead(f.handle(), buffer.data(), 4096, -1, 0));
    EXPECT_NE(hipFileSuccess, hipFileBufRegister(buffer.data(), 1 << 20, 0).err);
    EXPECT_NE(hipFileSuccess, hipFileBufDeregister(host).err);
  }
};

TEST_F(ErrorStateTest, Rule8_ErrorOfTheProgramSurvivesFailingCalls) {
  const RegisteredFile f(file("f"), 65536, 1);
  (void)hipSetDevice(1000);
  fail_everywhere(f);
  EXPECT_EQ(hipErrorInvalidDevice, hipGetLastError());
}

TEST_F(ErrorStateTest, Rule8_FailingCallsLeaveNoErrorWithHip) {
  const RegisteredFile f(file("f"), 65536, 1);
  (void)hipGetLastError();
  fail_everywhere(f);
  EXPECT_EQ(hipSuccess, hipGetLastError());
}

// Behind the failure of the write come a wait for the stream, the end of leases, a line of the log.
TEST_F(ErrorStateTest, Rule8_ErrnoIsThatOfTheFailure) {
  const RegisteredFile f(file("f"), 4096, 1);
  Buffer buffer(8 << 20);
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_FSIZE, &before));
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1 << 20, before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &small));
  for (const size_t size : {size_t{4096}, size_t{1001}, size_t{8} << 20}) {
    errno = 0;
    const ssize_t n = hipFileWrite(f.handle(), buffer.data(), size, 1 << 20, 0);
    const int error = errno;
    EXPECT_EQ(-1, n) << size;
    EXPECT_EQ(EFBIG, error) << size;
  }
  EXPECT_ERRNO(EINVAL, hipFileWrite(f.handle(), buffer.data(), 4096, -1, 0));  // no call fails
  EXPECT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &before));
  std::signal(SIGXFSZ, old_handler);
}

}  // namespace
}  // namespace hipfile::test
