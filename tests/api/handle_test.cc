// SPDX-License-Identifier: MIT
// Registering and deregistering files: every row of the tables of hipFileHandleRegister and
// hipFileHandleDeregister, stale handles, reused descriptor numbers, descriptor limits.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class HandleTest : public ApiTest {
 protected:
  hipFileExtFileInfo_t info_of(hipFileHandle_t handle) {
    hipFileExtFileInfo_t info{};
    EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(handle, &info));
    return info;
  }

  void expect_readable(hipFileHandle_t handle, size_t size, uint64_t seed) {
    Buffer buffer(size);
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(handle, buffer.data(), size, 0, 0));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, seed)));
  }
};

// Allows descriptors up to `highest` while it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int highest) {
    ::getrlimit(RLIMIT_NOFILE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = static_cast<rlim_t>(highest) + 1;
    EXPECT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &limit));
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_{};
};

// The number that the next descriptor will get, with no gaps above it.
int next_descriptor() {
  const int fd = ::dup(0);
  ::close(fd);
  return fd;
}

TEST_F(HandleTest, NullArgumentsAreInvalidAndOpenNothing) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t handle = nullptr;
  EXPECT_CODE(hipFileInvalidValue, hipFileHandleRegister(nullptr, &descr));
  EXPECT_CODE(hipFileInvalidValue, hipFileHandleRegister(&handle, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileHandleRegister(nullptr, nullptr));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(HandleTest, OtherHandleTypesAreNotSupported) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  for (int type : {0, 2, 3, 4, 99, -1}) {
    hipFileDescr_t descr = describe(fd.get());
    std::memcpy(&descr.type, &type, sizeof type);  // as C can
    hipFileHandle_t handle = nullptr;
    EXPECT_CODE(hipFileIONotSupported, hipFileHandleRegister(&handle, &descr));
    EXPECT_EQ(0, hipFileUseCount());
  }
}

TEST_F(HandleTest, InvalidDescriptorIsAnInternalError) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  const int closed = fd.get();
  fd.reset();
  for (int number : {-1, -100, closed, 1 << 30}) {
    hipFileDescr_t descr = describe(number);
    hipFileHandle_t handle = nullptr;
    EXPECT_CODE(hipFileInternalError, hipFileHandleRegister(&handle, &descr));
    EXPECT_EQ(0, hipFileUseCount());
  }
}

TEST_F(HandleTest, DescriptorLimitGivesGetNewFdFailed) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t handle = nullptr;
  {
    DescriptorLimit limit(next_descriptor() - 1);
    EXPECT_CODE(hipFileGetNewFDFailed, hipFileHandleRegister(&handle, &descr));
  }
  EXPECT_EQ(0, hipFileUseCount());
  EXPECT_CODE(hipFileSuccess, hipFileHandleRegister(&handle, &descr));
}

TEST_F(HandleTest, Rule18_DescriptorLimitAtTheSecondViewIsANamedReason) {
  RegisteredFile warm(file("warm"), 4096, 1);  // what is opened once is open then
  expect_readable(warm.handle(), 4096, 1);
  write_file(file("f"), make_pattern(4096, 2));
  Fd fd(file("f"), O_RDWR);
  hipFileExtFileInfo_t info{};
  hipFileHandle_t handle = nullptr;
  {
    DescriptorLimit limit(next_descriptor());  // room for the duplicate only
    handle = register_fd(fd.get());
    info = info_of(handle);
    Buffer buffer(4096);
    EXPECT_EQ(4096, hipFileRead(handle, buffer.data(), 4096, 0, 0));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(4096, 2)));
  }
  if (info.view == hipFileExtViewNotSupported) return;  // no second view was wanted here
  EXPECT_EQ(hipFileExtViewNoDescriptors, info.view);
  EXPECT_EQ(EMFILE, info.view_errno);
}

TEST_F(HandleTest, SameDescriptorTwiceIsAlreadyRegistered) {
  RegisteredFile f(file("f"), 4096, 1);
  hipFileDescr_t descr = describe(f.fd());
  hipFileHandle_t again = nullptr;
  EXPECT_CODE(hipFileHandleAlreadyRegistered, hipFileHandleRegister(&again, &descr));
  EXPECT_EQ(1, hipFileUseCount());
  expect_readable(f.handle(), 4096, 1);
}

TEST_F(HandleTest, DupAndSecondOpenAreSeparateHandles) {
  RegisteredFile f(file("f"), 4096, 1);
  Fd second(file("f"), O_RDWR);
  Fd duplicate(::dup(f.fd()));
  std::set<hipFileHandle_t> handles{f.handle(), register_fd(second.get()),
                                    register_fd(duplicate.get())};
  EXPECT_EQ(3u, handles.size());
  for (hipFileHandle_t handle : handles) expect_readable(handle, 4096, 1);
}

TEST_F(HandleTest, FsOpsAreIgnored) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  hipFileFSOps_t ops{};
  hipFileDescr_t descr = describe(fd.get());
  descr.fs_ops = &ops;
  hipFileHandle_t handle = nullptr;
  EXPECT_CODE(hipFileSuccess, hipFileHandleRegister(&handle, &descr));
}

TEST_F(HandleTest, Rule17_ClosedAndReusedNumberIsAnotherFile) {
  write_file(file("old"), make_pattern(4096, 1));
  write_file(file("new"), make_pattern(4096, 2));
  Fd old_fd(file("old"), O_RDWR);
  const int number = old_fd.get();
  hipFileHandle_t old_handle = register_fd(number);
  old_fd.reset();
  Fd new_fd(file("new"), O_RDWR);
  ASSERT_EQ(number, ::dup2(new_fd.get(), number));
  Fd reused(number);
  hipFileHandle_t new_handle = register_fd(number);
  EXPECT_NE(old_handle, new_handle);
  expect_readable(new_handle, 4096, 2);
}

TEST_F(HandleTest, Rule17_RegisteredFileOutlivesTheCallersDescriptor) {
  write_file(file("f"), make_pattern(4096, 1));
  write_file(file("other"), make_pattern(4096, 2));
  Fd fd(file("f"), O_RDWR);
  hipFileHandle_t handle = register_fd(fd.get());
  const int number = fd.get();
  fd.reset();
  Fd other(file("other"), O_RDWR);
  EXPECT_EQ(number, other.get());
  expect_readable(handle, 4096, 1);
  Buffer buffer(4096);
  EXPECT_EQ(1000, hipFileRead(handle, buffer.data(), 1000, 3, 0));  // by the other view
  EXPECT_EQ("", first_difference(buffer.get(0, 1000), make_pattern(1000, 1, 3)));
  buffer.set(make_pattern(4096, 3));
  EXPECT_EQ(4096, hipFileWrite(handle, buffer.data(), 4096, 0, 0));
  EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(4096, 3)));
  EXPECT_EQ("", first_difference(read_file(file("other")), make_pattern(4096, 2)));
}

TEST_F(HandleTest, RegistrationNeverChangesTheCallersDescriptor) {
  for (int direct : {0, direct_flag_of(dir_.path())}) {
    write_file(file("f"), make_pattern(8192, 1));
    Fd fd(file("f"), O_RDWR | direct);
    ASSERT_EQ(100, ::lseek(fd.get(), 100, SEEK_SET));
    const int flags = ::fcntl(fd.get(), F_GETFL);
    hipFileHandle_t handle = register_fd(fd.get());
    expect_readable(handle, 8192, 1);
    EXPECT_EQ(flags, ::fcntl(fd.get(), F_GETFL));
    EXPECT_EQ(100, ::lseek(fd.get(), 0, SEEK_CUR));
    hipFileHandleDeregister(handle);
    EXPECT_EQ(flags, ::fcntl(fd.get(), F_GETFL));
  }
}

TEST_F(HandleTest, Rule17_NewDescriptorsAreCloseOnExec) {
  std::set<int> before;
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) before.insert(fd);
  }
  RegisteredFile f(file("f"), 4096, 1);
  info_of(f.handle());
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags < 0 || before.count(fd) != 0) continue;
    EXPECT_NE(0, flags & FD_CLOEXEC) << fd;
  }
}

TEST_F(HandleTest, DeregisterIgnoresNullUnknownAndStaleHandles) {
  hipFileHandleDeregister(nullptr);
  int local = 0;
  hipFileHandleDeregister(&local);
  EXPECT_EQ(0, hipFileUseCount());
  RegisteredFile f(file("f"), 4096, 1);
  hipFileHandleDeregister(nullptr);
  hipFileHandleDeregister(&local);
  hipFileHandleDeregister(reinterpret_cast<void*>(~static_cast<uintptr_t>(0)));
  expect_readable(f.handle(), 4096, 1);
  hipFileHandleDeregister(f.handle());
  hipFileHandleDeregister(f.handle());
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_F(HandleTest, StaleHandleIsNotTheNextFile) {
  RegisteredFile first(file("first"), 4096, 1);
  Buffer buffer(4096);
  hipFileHandleDeregister(first.handle());
  for (int i = 0; i < 300; ++i) {
    RegisteredFile next(file("next"), 4096, 2);
    ASSERT_NE(first.handle(), next.handle());
    ASSERT_EQ(negated(hipFileHandleNotRegistered),
              hipFileRead(first.handle(), buffer.data(), 4096, 0, 0));
    hipFileHandleDeregister(first.handle());  // must not end the other registration
    expect_readable(next.handle(), 4096, 2);
    hipFileHandleDeregister(next.handle());
  }
}

TEST_F(HandleTest, DeregisterKeepsTheCallersDescriptorAndClosesOurs) {
  Buffer warm(4096);
  RegisteredFile first(file("first"), 4096, 1);
  EXPECT_EQ(4096, hipFileRead(first.handle(), warm.data(), 4096, 0, 0));
  hipFileHandleDeregister(first.handle());
  const size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    RegisteredFile f(file("f"), 4096, 2);
    expect_readable(f.handle(), 4096, 2);
    hipFileHandleDeregister(f.handle());
    EXPECT_NE(-1, ::fcntl(f.fd(), F_GETFD));
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(HandleTest, ManyFilesCanBeRegistered) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const size_t count = limit.rlim_cur > 1500 ? 400 : 100;
  std::vector<Fd> files;
  std::vector<hipFileHandle_t> handles;
  for (size_t i = 0; i < count; ++i) {
    const std::string path = file("f" + std::to_string(i));
    write_file(path, make_pattern(512, i + 1));
    files.emplace_back(path, O_RDWR);
    handles.push_back(register_fd(files.back().get()));
  }
  for (size_t i = 0; i < count; i += 7) expect_readable(handles[i], 512, i + 1);
  EXPECT_EQ(count, std::set<hipFileHandle_t>(handles.begin(), handles.end()).size());
}

TEST_F(HandleTest, HandleOfOneKindIsNoneOfAnother) {
  RegisteredFile f(file("f"), 4096, 1);
  Buffer buffer(4096);
  hipFileBatchHandle_t batch = nullptr;
  ASSERT_EQ(hipFileSuccess, hipFileBatchIOSetUp(&batch, 1).err);
  EXPECT_EQ(negated(hipFileHandleNotRegistered), hipFileRead(batch, buffer.data(), 4096, 0, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(f.handle()));
  hipFileBatchIODestroy(f.handle());
  hipFileHandleDeregister(batch);
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch));
  expect_readable(f.handle(), 4096, 1);
  hipFileBatchIODestroy(batch);
}

TEST_F(HandleTest, Rule19_PosixRecordLocksSurviveDeregistration) {
  RegisteredFile f(file("f"), 4096, 1);
  expect_readable(f.handle(), 4096, 1);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(0, ::fcntl(f.fd(), F_SETLK, &lock));
  hipFileHandleDeregister(f.handle());
  close_library();
  // An OFD lock request of another description conflicts with the POSIX lock, if it is still there.
  Fd other(file("f"), O_RDWR);
  struct flock probe {};
  probe.l_type = F_WRLCK;
  probe.l_whence = SEEK_SET;
  ASSERT_EQ(0, ::fcntl(other.get(), F_OFD_GETLK, &probe));
  EXPECT_EQ(F_WRLCK, probe.l_type) << "the lock was dropped by a close";
}

}  // namespace
}  // namespace hipfile::test
