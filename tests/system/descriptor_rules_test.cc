// SPDX-License-Identifier: MIT
// Rules 17 to 19: descriptors that are closed and used again, second views of unusual files, record
// locks that no close of ours may drop. As root and as an ordinary user, on several file systems.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"

namespace hipfile::test {
namespace {

constexpr uint32_t kDupfdQuery = 1027;  // F_DUPFD_QUERY, Linux 6.10

// Which of the two ways to compare descriptors the kernel offers.
enum class Comparing { kBoth, kWithoutQuery, kByIdentityOnly };

class ReusedNumberTest : public ApartTest, public testing::WithParamInterface<Comparing> {
 protected:
  static void restrict_kernel() {
    if (GetParam() == Comparing::kBoth) return;
    ASSERT_TRUE(refuse_calls({{SYS_fcntl, EINVAL, 1, kDupfdQuery}}));
    if (GetParam() == Comparing::kByIdentityOnly) {
      ASSERT_TRUE(refuse_calls({{SYS_kcmp, EPERM}}));
    }
  }
};

TEST_P(ReusedNumberTest, Rule17_OtherFileUnderTheNumberTakesItsPlace) {
  EXPECT_APART([this] {
    restrict_kernel();
    write_file(file("old"), make_pattern(8192, 1));
    write_file(file("new"), make_pattern(8192, 2));
    Fd fd(file("old"), O_RDWR);
    const hipFileHandle_t old_handle = register_fd(fd.get());
    const Fd other(file("new"), O_RDWR);
    ASSERT_EQ(fd.get(), ::dup2(other.get(), fd.get()));
    const hipFileHandle_t new_handle = register_fd(fd.get());
    EXPECT_NE(old_handle, new_handle);
    expect_reads(new_handle, 8192, 2);
    Buffer buffer(8192);
    EXPECT_EQ(negated(hipFileHandleNotRegistered),
              hipFileRead(old_handle, buffer.data(), 8192, 0, 0));
  });
}

TEST_P(ReusedNumberTest, Rule17_SameFileWithOtherFlagsIsAnotherDescription) {
  EXPECT_APART([this] {
    restrict_kernel();
    write_file(file("f"), make_pattern(8192, 1));
    Fd fd(file("f"), O_RDWR);
    (void)register_fd(fd.get());
    const Fd again(file("f"), O_RDONLY);
    ASSERT_EQ(fd.get(), ::dup2(again.get(), fd.get()));
    const hipFileHandle_t handle = register_fd(fd.get());
    expect_reads(handle, 8192, 1);
    Buffer buffer(4096);
    EXPECT_ERRNO(EBADF, hipFileWrite(handle, buffer.data(), 4096, 0, 0));
  });
}

TEST_P(ReusedNumberTest, Rule17_NumberThatStayedOpenIsAlreadyRegistered) {
  EXPECT_APART([this] {
    restrict_kernel();
    const RegisteredFile f(file("f"), 4096, 1);
    hipFileDescr_t descr = describe(f.fd());
    hipFileHandle_t handle = nullptr;
    EXPECT_CODE(hipFileHandleAlreadyRegistered, hipFileHandleRegister(&handle, &descr));
  });
}

std::string comparing_name(const testing::TestParamInfo<Comparing>& info) {
  switch (info.param) {
    case Comparing::kBoth:
      return "Both";
    case Comparing::kWithoutQuery:
      return "WithoutQuery";
    case Comparing::kByIdentityOnly:
      return "ByIdentityOnly";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(, ReusedNumberTest,
                         testing::Values(Comparing::kBoth, Comparing::kWithoutQuery,
                                         Comparing::kByIdentityOnly),
                         comparing_name);

class HeldFileTest : public ApartTest {};

TEST_F(HeldFileTest, Rule17_FlockLivesUntilDeregistration) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    Fd fd(file("f"), O_RDWR);
    ASSERT_EQ(0, ::flock(fd.get(), LOCK_EX));
    const hipFileHandle_t handle = register_fd(fd.get());
    fd.reset();
    const Fd other(file("f"), O_RDWR);
    EXPECT_ERRNO(EWOULDBLOCK, ::flock(other.get(), LOCK_EX | LOCK_NB));
    hipFileHandleDeregister(handle);
    EXPECT_EQ(0, ::flock(other.get(), LOCK_EX | LOCK_NB));
  });
}

TEST_F(HeldFileTest, Rule17_MountIsBusyUntilDeregistration) {
  EXPECT_APART([this] {
    const std::string place = file("mount");
    ASSERT_EQ(0, ::mkdir(place.c_str(), 0755));
    ASSERT_TRUE(enter_private_mounts());
    ASSERT_EQ(0, ::mount("tmpfs", place.c_str(), "tmpfs", 0, nullptr));
    Fd fd(place + "/f", O_RDWR | O_CREAT);
    const hipFileHandle_t handle = register_fd(fd.get());
    fd.reset();
    EXPECT_ERRNO(EBUSY, ::umount2(place.c_str(), 0));
    hipFileHandleDeregister(handle);
    EXPECT_EQ(0, ::umount2(place.c_str(), 0));
  });
}

class RecordLockTest : public ApartTest {
 protected:
  static struct flock range(short type, off_t begin, off_t size) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = size;
    return lock;
  }
  static void set_lock(int fd, int command, short type, off_t begin, off_t size) {
    struct flock wanted = range(type, begin, size);
    ASSERT_EQ(0, ::fcntl(fd, command, &wanted));
  }
  // Another process asks: it meets the POSIX locks of this one, and OFD locks.
  static bool is_locked_for_others(const std::string& path, off_t begin, off_t size) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Fd fd(path, O_RDWR);
      struct flock wanted = range(F_WRLCK, begin, size);
      ::_exit(::fcntl(fd.get(), F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(pid, ::waitpid(pid, &status, 0));
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  }

  // Registers the file of `fd`, uses both views, and closes the library.
  static void use_and_close(int fd) {
    const hipFileHandle_t handle = register_fd(fd);
    expect_reads(handle, 4096, 1);
    (void)info_of(handle);
    hipFileHandleDeregister(handle);
    close_library();
  }
};

TEST_F(RecordLockTest, Rule19_RecordLockSurvivesDeregistrationAndClose) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    const Fd fd(file("f"), O_RDWR);
    set_lock(fd.get(), F_SETLK, F_WRLCK, 100, 10);
    use_and_close(fd.get());
    EXPECT_TRUE(is_locked_for_others(file("f"), 100, 10));
  });
}

TEST_F(RecordLockTest, Rule19_RecordLockBesideOtherLocksSurvives) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    const Fd fd(file("f"), O_RDWR);
    const Fd other(file("f"), O_RDWR);
    // The kernel tells of one lock only, and that may be one of these.
    set_lock(other.get(), F_OFD_SETLK, F_WRLCK, 0, 10);
    set_lock(other.get(), F_OFD_SETLK, F_WRLCK, 200, 10);
    ASSERT_EQ(0, ::flock(fd.get(), LOCK_EX));
    set_lock(fd.get(), F_SETLK, F_WRLCK, 100, 10);
    use_and_close(fd.get());
    EXPECT_TRUE(is_locked_for_others(file("f"), 100, 10));
  });
}

TEST_F(RecordLockTest, Rule19_SharedRecordLockUnderASharedOfdLockSurvives) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    const Fd fd(file("f"), O_RDWR);
    const Fd other(file("f"), O_RDWR);
    set_lock(other.get(), F_OFD_SETLK, F_RDLCK, 0, 0);
    set_lock(fd.get(), F_SETLK, F_RDLCK, 100, 10);
    use_and_close(fd.get());
    set_lock(other.get(), F_OFD_SETLK, F_UNLCK, 0, 0);
    EXPECT_TRUE(is_locked_for_others(file("f"), 100, 10));
  });
}

TEST_F(RecordLockTest, Rule19_ParkedDescriptorsAreClosedWhenTheLockIsGone) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    write_file(file("g"), make_pattern(4096, 1));
    const Fd fd(file("f"), O_RDWR);
    const Fd unlocked(file("g"), O_RDWR);
    use_and_close(unlocked.get());  // what the library keeps open is open now
    const size_t before = open_descriptors();
    set_lock(fd.get(), F_SETLK, F_WRLCK, 0, 1);
    use_and_close(fd.get());
    EXPECT_LT(before, open_descriptors()) << "nothing was parked";
    set_lock(fd.get(), F_SETLK, F_UNLCK, 0, 0);
    use_and_close(unlocked.get());
    EXPECT_EQ(before, open_descriptors());
  });
}

TEST_F(RecordLockTest, Rule19_FlockAndExclusiveOfdLocksParkNothing) {
  EXPECT_APART([this] {
    write_file(file("f"), make_pattern(4096, 1));
    const Fd fd(file("f"), O_RDWR);
    const Fd other(file("f"), O_RDWR);
    use_and_close(fd.get());
    const size_t before = open_descriptors();
    ASSERT_EQ(0, ::flock(fd.get(), LOCK_EX));
    set_lock(other.get(), F_OFD_SETLK, F_WRLCK, 10, 10);
    use_and_close(fd.get());
    EXPECT_EQ(before, open_descriptors());
  });
}

}  // namespace
}  // namespace hipfile::test
