// SPDX-License-Identifier: MIT
// What others do while a copy runs: they change the source, open or lease the destination, make a
// file of its name, remove its directory. The copy is halted in its middle by its runtime.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <fstream>
#include <string_view>

#include "aiscp_fixture.h"

namespace hipfile::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kSize = (8 << 20) + 5;

class AiscpMeanwhileTest : public AiscpTest {
 protected:
  void SetUp() override { make("from", kSize); }

  std::vector<std::string> slow(const std::string& to) const {
    return {AISCP_BINARY, "--chunk-size=4K", "--jobs=1", "from", to};
  }

  /// Halts the copy at one of its many calls of the runtime, on any machine at the same one.
  ProcessOptions halting() const {
    ProcessOptions wish = options();
    wish.environment.push_back(std::string("HIPFILE_HIP_LIBRARY=") + FAULTY_RUNTIME);
    wish.environment.push_back("HIPFILE_TEST_HIP_FAULT=any:200:stop");
    return wish;
  }

  static bool is_open_for_writing(const std::string& info) {
    std::ifstream lines(info);
    std::string key;
    unsigned flags = 0;
    while (lines >> key && key != "flags:") {
    }
    return (lines >> std::oct >> flags) && (flags & O_ACCMODE) != O_RDONLY;
  }

  /// The file here that the program writes to, once it holds data; no inode while there is none.
  /// (It may have inherited descriptors of others, files of whoever runs the tests.)
  struct stat written_file(pid_t pid) const {
    const std::string process = "/proc/" + std::to_string(pid);
    struct stat found {};
    DIR* const entries = ::opendir((process + "/fd").c_str());
    while (const dirent* entry = entries != nullptr ? ::readdir(entries) : nullptr) {
      const std::string file = process + "/fd/" + entry->d_name;
      char path[PATH_MAX] = {};
      struct stat st {};
      if (::readlink(file.c_str(), path, sizeof path - 1) < 0) continue;
      if (!std::string_view(path).starts_with(directory())) continue;
      if (::stat(file.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) continue;
      if (is_open_for_writing(process + "/fdinfo/" + entry->d_name)) found = st;
    }
    if (entries != nullptr) ::closedir(entries);
    return found;
  }

  /// Waits until a halting copy has halted; returns what it writes to.
  struct stat halt(const RunningProcess& copy) const {
    while (!copy.is_stopped() && !copy.has_ended()) ::usleep(500);
    EXPECT_FALSE(copy.has_ended()) << "it had ended before it was halted";
    const struct stat written = written_file(copy.pid());
    EXPECT_NE(written.st_ino, 0u) << "it was halted before it wrote";
    return written;
  }

  ProcessResult go_on(RunningProcess& copy) const {
    copy.send(SIGCONT);
    return copy.wait();
  }

  void touch_source() const {
    const timespec times[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(0, ::utimensat(AT_FDCWD, at("from").c_str(), times, 0));
  }

  bool has_leases() const {
    make("lease-probe", 1);
    const Fd fd(at("lease-probe"), O_RDONLY);
    const bool has = ::fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0;
    ::unlink(at("lease-probe").c_str());
    return has;
  }

  const std::string warning_ = "aiscp: warning: 'from' changed while it was copied\n";
};

TEST_F(AiscpMeanwhileTest, NewFileIsHiddenAndClosedToOthers) {
  ASSERT_EQ(0, ::chmod(at("from").c_str(), 0644));
  RunningProcess copy(slow("to"), halting());
  EXPECT_EQ(0600u, halt(copy).st_mode & 07777);
  EXPECT_NE(0, ::access(at("to").c_str(), F_OK));
  expect_silent_success(go_on(copy));
  EXPECT_EQ(0644u, mode_of("to"));
}

TEST_F(AiscpMeanwhileTest, ReplacingFileIsHiddenAndClosedToOthers) {
  make("to", 1000, 2);
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0664));
  RunningProcess copy(slow("to"), halting());
  const struct stat written = halt(copy);
  EXPECT_EQ(0600u, written.st_mode & 07777);
  EXPECT_NE(status_of("to").st_ino, written.st_ino);
  expect_content("to", 1000, 2);
  expect_silent_success(go_on(copy));
  expect_content("to", kSize);
  EXPECT_EQ(0664u, mode_of("to"));
}

TEST_F(AiscpMeanwhileTest, SourceWhoseTimeChangesIsCopiedWithOneWarning) {
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  touch_source();
  const ProcessResult result = go_on(copy);
  EXPECT_EQ(0, result.exit_code);
  EXPECT_EQ(warning_, result.err);
  expect_content("to", kSize);
}

TEST_F(AiscpMeanwhileTest, SourceThatShrinksIsNotPutInPlace) {
  make("to", 100, 2);
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  ASSERT_EQ(0, ::truncate(at("from").c_str(), 4096));
  expect_failure(go_on(copy), "aiscp: 'from' shrank while it was copied");
  expect_content("to", 100, 2);
  EXPECT_EQ((std::vector<std::string>{"from", "to"}), names());
}

TEST_F(AiscpMeanwhileTest, SourceThatIsCutAndGrownAgainIsCopiedWithAWarning) {
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  ASSERT_EQ(0, ::truncate(at("from").c_str(), 0));
  ASSERT_EQ(0, ::truncate(at("from").c_str(), static_cast<off_t>(kSize)));
  const ProcessResult result = go_on(copy);
  EXPECT_EQ(0, result.exit_code);
  EXPECT_EQ(warning_, result.err);
  EXPECT_EQ(static_cast<off_t>(kSize), status_of("to").st_size);
}

TEST_F(AiscpMeanwhileTest, DestinationThatIsOpenedForWritingIsOverwrittenWithOneWarning) {
  make("to", 1000, 2);
  const bool has_leases_here = has_leases();
  const ino_t before = status_of("to").st_ino;
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  const Fd writer(at("to"), O_WRONLY);
  touch_source();
  const ProcessResult result = go_on(copy);
  EXPECT_EQ(0, result.exit_code);
  EXPECT_EQ(warning_, result.err) << "one, though the copy was made twice";
  expect_content("to", kSize);
  if (has_leases_here) {
    EXPECT_EQ(before, status_of("to").st_ino);
  }
}

TEST_F(AiscpMeanwhileTest, NameThatIsTakenMeanwhileIsNotOverwritten) {
  make("other", 1000, 3);
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  expect_silent_success(aiscp({"other", "to"}));
  expect_failure(go_on(copy), "aiscp: cannot create regular file 'to': File exists");
  expect_content("to", 1000, 3);
  EXPECT_EQ((std::vector<std::string>{"from", "other", "to"}), names());
}

TEST_F(AiscpMeanwhileTest, SymlinkThatIsMadeMeanwhileIsNotFollowed) {
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  ASSERT_EQ(0, ::symlink("elsewhere", at("to").c_str()));
  expect_failure(go_on(copy), "aiscp: cannot create regular file 'to': File exists");
  EXPECT_EQ((std::vector<std::string>{"from", "to"}), names());
}

TEST_F(AiscpMeanwhileTest, OldFileThatIsRemovedMeanwhileIsMadeAnew) {
  make("to", 1000, 2);
  RunningProcess copy(slow("to"), halting());
  (void)halt(copy);
  ASSERT_EQ(0, ::unlink(at("to").c_str()));
  expect_silent_success(go_on(copy));
  expect_content("to", kSize);
}

TEST_F(AiscpMeanwhileTest, DirectoryThatIsRemovedMeanwhileIsAFailure) {
  ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  RunningProcess copy(slow("d/to"), halting());
  (void)halt(copy);
  for (const std::string& name : names("d")) ::unlink(at("d/" + name).c_str());
  const bool is_removed = ::rmdir(at("d").c_str()) == 0;
  const ProcessResult result = go_on(copy);
  // Where an open file keeps a name of the file system's own, the directory stays.
  if (is_removed) {
    expect_failure(result, "aiscp: cannot create regular file 'd/to': No such file or directory");
  }
  EXPECT_NE(0, ::access(at("d/to").c_str(), F_OK));
}

TEST_F(AiscpMeanwhileTest, LeaseOfAnotherIsWaitedFor) {
  if (!has_leases()) GTEST_SKIP() << "no leases here";
  make("to", 1000, 2);
  ::signal(SIGIO, SIG_IGN);
  Fd holder(at("to"), O_RDWR);
  ASSERT_EQ(0, ::fcntl(holder.get(), F_SETLEASE, F_WRLCK));
  RunningProcess copy({AISCP_BINARY, "from", "to"}, options());
  // Asked to give the lease up: then it is no longer what it was.
  while (::fcntl(holder.get(), F_GETLEASE) == F_WRLCK && !copy.has_ended()) ::usleep(1000);
  EXPECT_FALSE(copy.has_ended());
  ASSERT_EQ(0, ::fcntl(holder.get(), F_SETLEASE, F_UNLCK));
  expect_silent_success(copy.wait());
  expect_content("to", kSize);
}

TEST_F(AiscpMeanwhileTest, SignalEndsTheWaitForALeaseAtOnceAndSilently) {
  if (!has_leases()) GTEST_SKIP() << "no leases here";
  make("to", 1000, 2);
  ::signal(SIGIO, SIG_IGN);
  Fd holder(at("to"), O_RDWR);
  ASSERT_EQ(0, ::fcntl(holder.get(), F_SETLEASE, F_WRLCK));
  RunningProcess copy({AISCP_BINARY, "from", "to"}, options());
  while (::fcntl(holder.get(), F_GETLEASE) == F_WRLCK && !copy.has_ended()) ::usleep(1000);
  const Clock::time_point begin = Clock::now();
  ::usleep(50000);  // until it waits
  copy.send(SIGTERM);
  const ProcessResult result = copy.wait();
  EXPECT_EQ(SIGTERM, result.signal);
  EXPECT_EQ("", result.err);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));  // the kernel's patience is 45
  holder.reset();                                             // else we would wait for ourselves
  expect_content("to", 1000, 2);
}

}  // namespace
}  // namespace hipfile::test
