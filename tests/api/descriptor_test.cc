// SPDX-License-Identifier: MIT
// Descriptors that are not an ordinary readable and writable file. None may crash, hang or reach
// bytes that the caller's own descriptor could not reach.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class DescriptorTest : public ApiTest {
 protected:
  ssize_t read(int fd) {
    enroll(fd);
    errno = 0;
    return hipFileRead(handle_, buffer_.data(), 4096, 0, 0);
  }
  ssize_t write(int fd) {
    enroll(fd);
    errno = 0;
    return hipFileWrite(handle_, buffer_.data(), 4096, 0, 0);
  }
  // Loops reuse descriptor numbers: the one before must be gone.
  void enroll(int fd) {
    hipFileHandleDeregister(handle_);
    handle_ = register_fd(fd);
  }
  ssize_t write_again() {
    errno = 0;
    return hipFileWrite(handle_, buffer_.data(), 4096, 0, 0);
  }

  Buffer buffer_{8192};
  hipFileHandle_t handle_ = nullptr;
};

TEST_F(DescriptorTest, FifoFailsAtIo) {
  ASSERT_EQ(0, ::mkfifo(file("fifo").c_str(), 0600));
  Fd fd(file("fifo"), O_RDWR | O_NONBLOCK);
  EXPECT_LT(read(fd.get()), 0);
  EXPECT_LT(write_again(), 0);
}

TEST_F(DescriptorTest, PipeFailsAtIoAndLosesNothing) {
  int ends[2];
  ASSERT_EQ(0, ::pipe2(ends, O_CLOEXEC));
  Fd reader(ends[0]), writer(ends[1]);
  ASSERT_EQ(5, ::write(writer.get(), "hello", 5));
  EXPECT_LT(read(reader.get()), 0);
  EXPECT_LT(write(writer.get()), 0);
  char text[8] = {};
  EXPECT_EQ(5, ::read(reader.get(), text, sizeof text));
}

TEST_F(DescriptorTest, DirectoryFailsAtIo) {
  Fd fd(dir_.path(), O_RDONLY | O_DIRECTORY);
  EXPECT_LT(read(fd.get()), 0);
  EXPECT_LT(write_again(), 0);
}

TEST_F(DescriptorTest, SocketFailsAtIo) {
  int ends[2];
  ASSERT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
  Fd one(ends[0]), two(ends[1]);
  EXPECT_LT(read(one.get()), 0);
  EXPECT_LT(write_again(), 0);
}

TEST_F(DescriptorTest, DevNullBehavesAsForPreadAndPwrite) {
  Fd fd("/dev/null", O_RDWR);
  EXPECT_EQ(0, read(fd.get()));
  EXPECT_EQ(4096, write_again());
}

TEST_F(DescriptorTest, DevZeroReadsZeros) {
  Fd fd("/dev/zero", O_RDONLY);
  buffer_.fill(0xee);
  EXPECT_EQ(4096, read(fd.get()));
  EXPECT_EQ("", first_difference(buffer_.get(0, 4096), std::vector<uint8_t>(4096)));
}

TEST_F(DescriptorTest, ReadFromWriteOnlyFileIsEbadf) {
  for (int direct : {0, direct_flag_of(dir_.path())}) {
    write_file(file("f"), make_pattern(8192, 1));
    Fd fd(file("f"), O_WRONLY | direct);
    EXPECT_EQ(-1, read(fd.get()));
    EXPECT_EQ(EBADF, errno);
    EXPECT_EQ(4096, write_again());
  }
}

TEST_F(DescriptorTest, WriteToReadOnlyFileIsEbadf) {
  for (int direct : {0, direct_flag_of(dir_.path())}) {
    write_file(file("f"), make_pattern(8192, 1));
    Fd fd(file("f"), O_RDONLY | direct);
    EXPECT_EQ(-1, write(fd.get()));
    EXPECT_EQ(EBADF, errno);
    EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(8192, 1)));
  }
}

TEST_F(DescriptorTest, UnalignedAccessWithTheWrongModeIsEbadfToo) {
  write_file(file("f"), make_pattern(8192, 1));
  Fd writer(file("f"), O_WRONLY);
  Fd reader(file("f"), O_RDONLY);
  EXPECT_ERRNO(EBADF, hipFileRead(register_fd(writer.get()), buffer_.data(), 100, 3, 1));
  EXPECT_ERRNO(EBADF, hipFileWrite(register_fd(reader.get()), buffer_.data(), 100, 3, 1));
}

TEST_F(DescriptorTest, PathOnlyDescriptorGivesNoAccess) {
  write_file(file("f"), make_pattern(4096, 1));
  Fd fd(file("f"), O_PATH);
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t handle = nullptr;
  const hipFileError_t error = hipFileHandleRegister(&handle, &descr);
  if (error.err != hipFileSuccess) return;  // refused: just as good
  buffer_.fill(0xee);
  EXPECT_ERRNO(EBADF, hipFileRead(handle, buffer_.data(), 4096, 0, 0));
  EXPECT_ERRNO(EBADF, hipFileWrite(handle, buffer_.data(), 4096, 0, 0));
  EXPECT_EQ("", first_difference(buffer_.get(0, 4096), std::vector<uint8_t>(4096, 0xee)));
  EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(4096, 1)));
}

TEST_F(DescriptorTest, AppendingDescriptorRefusesWritesAndReads) {
  for (int direct : {0, direct_flag_of(dir_.path())}) {
    write_file(file("f"), make_pattern(4096, 1));
    Fd fd(file("f"), O_RDWR | O_APPEND | direct);
    EXPECT_EQ(negated(hipFileInvalidFileOpenFlag), write(fd.get()));
    EXPECT_EQ(4096, hipFileRead(handle_, buffer_.data(), 4096, 0, 0));
    EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(4096, 1)));
  }
}

TEST_F(DescriptorTest, AppendSetAfterRegistrationWritesNoByteElsewhere) {
  RegisteredFile f(file("f"), 4096, 1);
  ASSERT_EQ(0, ::fcntl(f.fd(), F_SETFL, O_APPEND));
  buffer_.set(make_pattern(8192, 2));
  for (size_t size : {size_t{4096}, size_t{100}}) {
    const ssize_t n = hipFileWrite(f.handle(), buffer_.data(), size, 0, 0);
    EXPECT_TRUE(n == static_cast<ssize_t>(size) || n == negated(hipFileInvalidFileOpenFlag)) << n;
    EXPECT_EQ(4096, file_size(f.path())) << "the bytes were appended";
  }
}

TEST_F(DescriptorTest, DeletedFileWorks) {
  RegisteredFile f(file("f"), 8192, 1);
  ASSERT_EQ(0, ::unlink(f.path().c_str()));
  EXPECT_EQ(8192, hipFileRead(f.handle(), buffer_.data(), 8192, 0, 0));
  EXPECT_EQ("", first_difference(buffer_.get(), make_pattern(8192, 1)));
  EXPECT_EQ(8192, hipFileWrite(f.handle(), buffer_.data(), 8192, 8192, 0));
}

TEST_F(DescriptorTest, UnnamedTemporaryFileWorks) {
  const int raw = ::open(dir_.path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (raw < 0) {
    EXPECT_TRUE(errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT) << errno;
    return;  // this file system has none: nothing to test
  }
  Fd fd(raw);
  buffer_.set(make_pattern(8192, 3));
  handle_ = register_fd(fd.get());
  EXPECT_EQ(8192, hipFileWrite(handle_, buffer_.data(), 8192, 0, 0));
  buffer_.fill(0);
  EXPECT_EQ(8192, hipFileRead(handle_, buffer_.data(), 8192, 0, 0));
  EXPECT_EQ("", first_difference(buffer_.get(), make_pattern(8192, 3)));
}

TEST_F(DescriptorTest, FileThatCanNoLongerBeOpenedKeepsItsOneView) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: cannot drop privileges and take them back";
  write_file(file("f"), make_pattern(8192, 1));
  Fd fd(file("f"), O_RDWR);
  ASSERT_EQ(0, ::fchmod(fd.get(), 0400));
  ASSERT_EQ(0, ::seteuid(65534));
  handle_ = register_fd(fd.get());
  hipFileExtFileInfo_t info{};
  EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(handle_, &info));
  const ssize_t got = hipFileRead(handle_, buffer_.data(), 8192, 0, 0);
  const ssize_t put = hipFileWrite(handle_, buffer_.data(), 4096, 4096, 0);
  ASSERT_EQ(0, ::seteuid(0));
  if (info.view != hipFileExtViewNotSupported) {  // a second view was wanted
    EXPECT_EQ(hipFileExtViewNoPermission, info.view);
    EXPECT_TRUE(info.view_errno == EACCES || info.view_errno == EPERM) << info.view_errno;
  }
  EXPECT_EQ(8192, got);
  EXPECT_EQ(4096, put);
  const std::vector<uint8_t> head = make_pattern(8192, 1);
  EXPECT_EQ("", first_difference(buffer_.get(), head));
}

TEST_F(DescriptorTest, ReadOnlyModeFileOpenedForWritingBefore) {
  Fd fd(file("f"), O_RDWR | O_CREAT | O_EXCL, 0444);
  buffer_.set(make_pattern(8192, 4));
  EXPECT_EQ(4096, write(fd.get()));
  EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(4096, 4)));
}

TEST_F(DescriptorTest, FileWithALeaseDoesNotBlock) {
  std::signal(SIGIO, SIG_IGN);  // how the kernel tells the holder that somebody wants the file
  write_file(file("f"), make_pattern(8192, 1));
  Fd fd(file("f"), O_RDWR);
  if (::fcntl(fd.get(), F_SETLEASE, F_WRLCK) != 0) return;  // no leases on this file system
  EXPECT_EQ(8192, hipFileRead(register_fd(fd.get()), buffer_.data(), 8192, 0, 0));
  EXPECT_EQ("", first_difference(buffer_.get(), make_pattern(8192, 1)));
  (void)::fcntl(fd.get(), F_SETLEASE, F_UNLCK);
}

}  // namespace
}  // namespace hipfile::test
