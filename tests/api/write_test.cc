// SPDX-License-Identifier: MIT
// hipFileWrite: every row of its table, for every kind of memory and with the file opened with and
// without O_DIRECT.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <limits>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max();

class WriteTest : public IoTest {
 protected:
  static void expect_file(const RegisteredFile& f, const std::vector<uint8_t>& expected) {
    EXPECT_EQ("", first_difference(read_file(f.path()), expected));
  }
};

TEST_P(WriteTest, WholeBuffer) {
  RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag());
  Buffer buffer(100000, kind());
  buffer.set(make_pattern(100000, 1));
  EXPECT_EQ(100000, hipFileWrite(f.handle(), buffer.data(), 100000, 0, 0));
  expect_file(f, make_pattern(100000, 1));
}

TEST_P(WriteTest, RegisteredBuffer) {
  RegisteredFile f(file("f"), 0, 0, O_WRONLY | direct_flag());
  Buffer buffer(65536, kind());
  buffer.set(make_pattern(65536, 1));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  EXPECT_EQ(65536, hipFileWrite(f.handle(), buffer.data(), 65536, 0, 0));
  expect_file(f, make_pattern(65536, 1));
}

TEST_P(WriteTest, LargerThanTheRingsChunks) {
  const size_t size = (40 << 20) + 4096 + 77;
  RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag());
  Buffer buffer(size, kind());
  buffer.set(make_pattern(size, 1));
  EXPECT_EQ(static_cast<ssize_t>(size), hipFileWrite(f.handle(), buffer.data(), size, 0, 0));
  expect_file(f, make_pattern(size, 1));
}

TEST_P(WriteTest, AtFileAndBufferOffsetLeavesTheRestOfTheFile) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.set(make_pattern(65536, 2));
  EXPECT_EQ(8192, hipFileWrite(f.handle(), buffer.data(), 8192, 16384, 4096));
  std::vector<uint8_t> expected = make_pattern(65536, 1);
  fill_pattern(expected.data() + 16384, 8192, 2, 4096);
  expect_file(f, expected);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, 2))) << "the buffer changed";
}

TEST_P(WriteTest, AppendingExtendsTheFile) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(8192, kind());
  buffer.set(make_pattern(8192, 1, 4096));
  EXPECT_EQ(8192, hipFileWrite(f.handle(), buffer.data(), 8192, 4096, 0));
  expect_file(f, make_pattern(12288, 1));
}

TEST_P(WriteTest, BeyondEofLeavesAHoleOfZeros) {
  for (hoff_t offset : {16384l, 16385l}) {
    RegisteredFile f(file("f"), 5000, 1, O_RDWR | direct_flag());
    Buffer buffer(4096, kind());
    buffer.set(make_pattern(4096, 2));
    EXPECT_EQ(4096, hipFileWrite(f.handle(), buffer.data(), 4096, offset, 0));
    std::vector<uint8_t> expected = make_pattern(5000, 1);
    expected.resize(static_cast<size_t>(offset) + 4096);
    fill_pattern(expected.data() + offset, 4096, 2);
    expect_file(f, expected);
    hipFileHandleDeregister(f.handle());
  }
}

TEST_P(WriteTest, OverwriteDoesNotTruncate) {
  RegisteredFile f(file("f"), 10000, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  buffer.set(make_pattern(4096, 2));
  EXPECT_EQ(4096, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 0));
  std::vector<uint8_t> expected = make_pattern(10000, 1);
  fill_pattern(expected.data(), 4096, 2);
  expect_file(f, expected);
}

TEST_P(WriteTest, ZeroSizeReturnsZeroAndDoesNotGrowTheFile) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  for (hoff_t offset : {0l, 1l, 4096l, 8192l, 1l << 40}) {
    EXPECT_EQ(0, hipFileWrite(f.handle(), buffer.data(), 0, offset, 0)) << offset;
  }
  expect_file(f, make_pattern(4096, 1));
}

TEST_P(WriteTest, Rule21_ProgramSeesWhatWasJustWritten) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  for (uint64_t seed = 2; seed < 8; ++seed) {
    (void)read_file(f.path());  // the page cache holds the old bytes
    buffer.set(make_pattern(65536, seed));
    EXPECT_EQ(65536, hipFileWrite(f.handle(), buffer.data(), 65536, 0, 0));
    expect_file(f, make_pattern(65536, seed));
  }
}

TEST_P(WriteTest, RoundTrip) {
  const size_t size = 3 * 1024 * 1024 + 123;
  RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag());
  Buffer buffer(size, kind());
  buffer.set(make_pattern(size, 5));
  EXPECT_EQ(static_cast<ssize_t>(size), hipFileWrite(f.handle(), buffer.data(), size, 0, 0));
  buffer.fill(0);
  EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(f.handle(), buffer.data(), size, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, 5)));
}

TEST_P(WriteTest, FilePositionIsUntouched) {
  RegisteredFile f(file("f"), 16384, 1, O_RDWR | direct_flag());
  ASSERT_EQ(4096, ::lseek(f.fd(), 4096, SEEK_SET));
  Buffer buffer(8192, kind());
  buffer.set(make_pattern(8192, 1));
  EXPECT_EQ(8192, hipFileWrite(f.handle(), buffer.data(), 8192, 0, 0));
  EXPECT_EQ(4096, ::lseek(f.fd(), 0, SEEK_CUR));
  expect_file(f, make_pattern(16384, 1));
}

TEST_P(WriteTest, UnknownHandle) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  int local = 0;
  for (void* handle : {static_cast<void*>(nullptr), static_cast<void*>(&local), buffer.data(),
                       reinterpret_cast<void*>(~uintptr_t{0})}) {
    EXPECT_EQ(negated(hipFileHandleNotRegistered), hipFileWrite(handle, buffer.data(), 4096, 0, 0));
  }
  expect_file(f, make_pattern(4096, 1));
}

TEST_P(WriteTest, BadArgumentsWriteNothing) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.fill(0xee);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  const ssize_t invalid = negated(hipFileInvalidValue);
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), nullptr, 4096, 0, 0));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), 1, 0, 65536));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 65536 - 4095));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), 65537, 0, 0));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), SIZE_MAX, 0, 4096));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), kSizeCap + 4096, 0, 0));
  EXPECT_EQ(invalid, hipFileWrite(f.handle(), buffer.data(), 4096, 0, kFarthest));
  for (hoff_t offset : {-1l, -4096l, std::numeric_limits<hoff_t>::min()}) {
    EXPECT_ERRNO(EINVAL, hipFileWrite(f.handle(), buffer.data(), 4096, offset, 0));
    EXPECT_ERRNO(EINVAL, hipFileWrite(f.handle(), buffer.data(), 4096, 0, offset));
  }
  expect_file(f, make_pattern(65536, 1));
}

// Where a file may be as large as an offset can say, the bytes up to there may be written.
TEST_P(WriteTest, FarthestFileOffsetWritesNoFurther) {
  Buffer buffer(65536, kind());
  for (hoff_t offset : {kFarthest, kFarthest - 1, kFarthest - 4095, kFarthest - 65535}) {
    RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
    const ssize_t n = hipFileWrite(f.handle(), buffer.data(), 65536, offset, 0);
    EXPECT_LE(n, kFarthest - offset) << offset;
    EXPECT_NE(0, n) << offset;
    EXPECT_EQ(n > 0 ? offset + n : 4096, file_size(f.path())) << offset;
    hipFileHandleDeregister(f.handle());
  }
}

// Lets files grow to `bytes` while it lives, and turns the signal into EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST_P(WriteTest, FailureInTheMiddleReturnsTheBytesWritten) {
  const size_t size = 24 << 20;
  for (size_t limit_bytes : {size_t{10} << 20, (size_t{10} << 20) + 4096, size_t{4096}}) {
    RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag());
    Buffer buffer(size, kind());
    buffer.set(make_pattern(size, 1));
    ssize_t n = 0;
    {
      FileSizeLimit limit(limit_bytes);
      n = hipFileWrite(f.handle(), buffer.data(), size, 0, 0);
      EXPECT_ERRNO(EFBIG, hipFileWrite(f.handle(), buffer.data(), 4096,
                                       static_cast<hoff_t>(limit_bytes), 0));
    }
    EXPECT_EQ(static_cast<ssize_t>(limit_bytes), n);
    expect_file(f, make_pattern(limit_bytes, 1));
    hipFileHandleDeregister(f.handle());
  }
}

INSTANTIATE_TEST_SUITE_P(, WriteTest, kEveryIo, io_param_name);

}  // namespace
}  // namespace hipfile::test
