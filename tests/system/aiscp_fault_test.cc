// SPDX-License-Identifier: MIT
// Disks and file systems that fail in the middle of a copy, or cannot do what others can: EIO,
// quotas, limits of the file system, one that turns read-only. Each test brings its own file
// system.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "aiscp_fixture.h"
#include "copy_programs.h"
#include "file_systems.h"
#include "modes.h"

namespace hipfile::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kMiB = 1 << 20;
constexpr off_t kGiB = off_t{1} << 30;

void expect_error(const ProcessResult& result, const std::string& text) {
  EXPECT_EQ(1, result.exit_code);
  EXPECT_NE(std::string::npos, result.err.find(text)) << result.err;
  EXPECT_EQ(result.err.size(), result.err.find('\n') + 1) << "one line: " << result.err;
}

/// Copies from and to a FUSE file system with faults (passthrough_fuse.cc).
class AiscpFaultTest : public AiscpTest {
 protected:
  void SetUp() override {
    const std::string why = fuse_.mount("fuse", 0);
    if (!why.empty()) GTEST_SKIP() << why;
  }
  std::string on_fuse(const std::string& name) const { return fuse_.path() + "/" + name; }
  std::string listing() const {
    return shell("ls -A '" + fuse_.path() + "' | grep -v ^.fault-").out;
  }
  void switch_fault_on(const std::string& name, const std::string& number = "0") const {
    write_file(on_fuse(".fault-" + name), Bytes(number.begin(), number.end()));
  }
  void switch_fault_off(const std::string& name) const {
    ASSERT_EQ(0, ::unlink(on_fuse(".fault-" + name).c_str()));
  }

  FileSystem fuse_;
};

TEST_F(AiscpFaultTest, SourceThatCannotBeReadToItsEndIsNotPutInPlace) {
  write_file(on_fuse("from"), make_pattern(8 * kMiB, 1));
  make("old", 1000, 2);
  switch_fault_on("read", std::to_string(5 * kMiB));
  const std::string line = "aiscp: error reading '" + on_fuse("from") + "': Input/output error";
  expect_failure(aiscp({on_fuse("from"), "new"}), line);
  expect_failure(aiscp({on_fuse("from"), "old"}), line);
  expect_content("old", 1000, 2);
  EXPECT_EQ((std::vector<std::string>{"old"}), names());
  expect_failure(aiscp({"--inplace", on_fuse("from"), "old"}), line + "; 'old' is incomplete");
}

TEST_F(AiscpFaultTest, DestinationThatCannotBeWrittenToIsNotPutInPlace) {
  make("from", 8 * kMiB);
  write_file(on_fuse("old"), make_pattern(1000, 2));
  switch_fault_on("write", std::to_string(5 * kMiB));
  const auto line = [&](const std::string& name) {
    return "aiscp: error writing '" + on_fuse(name) + "': Input/output error";
  };
  expect_failure(aiscp({"from", on_fuse("new")}), line("new"));
  expect_failure(aiscp({"from", on_fuse("old")}), line("old"));
  EXPECT_EQ(make_pattern(1000, 2), read_file(on_fuse("old")));
  EXPECT_EQ("old\n", listing());
  expect_failure(aiscp({"--inplace", "from", on_fuse("old")}),
                 line("old") + "; '" + on_fuse("old") + "' is incomplete");
}

TEST_F(AiscpFaultTest, WithoutLinksTheFileIsMadeUnderItsNameAndRemovedOnAnyError) {
  switch_fault_on("link");
  make("from", 8 * kMiB);
  expect_silent_success(aiscp({"from", on_fuse("silent")}));
  const ProcessResult verbose = aiscp({"-v", "from", on_fuse("new")});
  EXPECT_EQ(0, verbose.exit_code);
  EXPECT_NE(std::string::npos,
            verbose.err.find("aiscp: '" + on_fuse("new") + "' is written under its own name: " +
                             "nothing else works in its directory\n"))
      << verbose.err;
  EXPECT_EQ(make_pattern(8 * kMiB, 1), read_file(on_fuse("new")));
  ASSERT_EQ(0, ::unlink(on_fuse("new").c_str()));

  switch_fault_on("write", std::to_string(5 * kMiB));
  EXPECT_EQ(1, aiscp({"from", on_fuse("new")}).exit_code);
  EXPECT_EQ("silent\n", listing());
  switch_fault_off("write");
  RunningProcess running({AISCP_BINARY, "--chunk-size=4K", "--jobs=1", "from", on_fuse("new")},
                         options());
  while (::access(on_fuse("new").c_str(), F_OK) != 0 && !running.has_ended()) ::usleep(1000);
  EXPECT_EQ(0600u, status_of_path(on_fuse("new")).st_mode & 07777);
  running.send(SIGTERM);
  EXPECT_EQ(SIGTERM, running.wait().signal);
  EXPECT_EQ("silent\n", listing());
}

TEST_F(AiscpFaultTest, OldFileIsReplacedWithoutLinksToo) {
  switch_fault_on("link");
  make("from", kMiB);
  write_file(on_fuse("old"), make_pattern(1000, 2));
  const ino_t before = status_of_path(on_fuse("old")).st_ino;
  const Fd hold(on_fuse("old"), O_RDONLY);
  expect_silent_success(aiscp({"from", on_fuse("old")}));
  EXPECT_NE(before, status_of_path(on_fuse("old")).st_ino);
  EXPECT_EQ(make_pattern(kMiB, 1), read_file(on_fuse("old")));
}

TEST_F(AiscpFaultTest, DirectThatIsAcceptedAndThenRefusedIsBufferedSilently) {
  switch_fault_on("direct");
  make("from", 3 * kMiB + 5);
  expect_silent_success(aiscp({"from", on_fuse("new")}));
  expect_silent_success(aiscp({"from", on_fuse("new")}));
  expect_silent_success(aiscp({on_fuse("new"), "back"}));
  expect_content("back", 3 * kMiB + 5);
}

TEST_F(AiscpFaultTest, SourceThatEndsBeforeItsSizeIsNotPutInPlace) {
  write_file(on_fuse("from"), make_pattern(8 * kMiB, 1));
  switch_fault_on("end", std::to_string(5 * kMiB));
  make("old", 1000, 2);
  expect_failure(aiscp({on_fuse("from"), "old"}), "aiscp: error reading '" + on_fuse("from") +
                                                      "': it ends after 5242880 of " +
                                                      "8388608 bytes");
  expect_content("old", 1000, 2);
}

TEST_F(AiscpFaultTest, ExampleSaysWhatFailedAndLeavesNoPartOfANewFile) {
  if (copy_programs().size() < 2) GTEST_SKIP() << "the example is not part of this build";
  const CopyProgram& example = copy_programs()[1];
  make("from", 8 * kMiB);
  write_file(on_fuse("source"), make_pattern(8 * kMiB, 1));
  switch_fault_on("write", std::to_string(5 * kMiB));
  expect_error(copy(example, at("from"), on_fuse("new")), "Input/output error");
  EXPECT_EQ("source\n", listing());
  switch_fault_on("read", std::to_string(5 * kMiB));
  expect_error(copy(example, on_fuse("source"), at("new")), "Input/output error");
  EXPECT_EQ((std::vector<std::string>{"from"}), names());
}

/// A disk that fails: ext4 on a file of the FUSE file system.
class AiscpFailingDiskTest : public AiscpFaultTest {
 protected:
  void SetUp() override {
    AiscpFaultTest::SetUp();
    if (IsSkipped()) return;
    const std::string why =
        disk_.mount_image("ext4", on_fuse("disk"), 160, {"-F"}, "errors=remount-ro");
    if (!why.empty()) GTEST_SKIP() << why;
    make("from", 64 * kMiB);
    write_file(to(), make_pattern(1000, 2));
    sync_disk();
  }
  std::string to() const { return disk_.path() + "/to"; }
  void sync_disk() const { ASSERT_EQ(0, shell("sync -f '" + disk_.path() + "'").exit_code); }

  /// The copy meets what `break_disk` does a moment after its beginning.
  template <typename Break>
  ProcessResult copy_while(std::vector<std::string> arguments, Break break_disk) const {
    arguments.insert(arguments.begin(), {AISCP_BINARY, "--chunk-size=4K", "--jobs=1"});
    RunningProcess running(arguments, options());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    break_disk();
    return running.wait();
  }

  FileSystem disk_;
};

TEST_F(AiscpFailingDiskTest, OldFileIsKeptWhenTheDiskStopsTakingData) {
  expect_error(copy_while({"from", to()}, [this] { switch_fault_on("write"); }),
               "aiscp: error writing '" + to() + "': ");
  EXPECT_EQ(make_pattern(1000, 2), read_file(to()));
}

TEST_F(AiscpFailingDiskTest, OldFileIsKeptWhenTheFlushFails) {
  // Into the page cache all goes well.
  expect_error(copy_while({"--direct=never", "from", to()}, [this] { switch_fault_on("write"); }),
               "'" + to() + "': Input/output error");
  EXPECT_EQ(make_pattern(1000, 2), read_file(to()));
}

TEST_F(AiscpFailingDiskTest, SourceOnADiskThatCannotBeReadIsNotPutInPlace) {
  write_file(disk_.path() + "/source", make_pattern(8 * kMiB, 1));
  sync_disk();
  make("old", 1000, 2);
  const Fd image(on_fuse("disk"), O_RDONLY);
  ASSERT_EQ(0, ::posix_fadvise(image.get(), 0, 0, POSIX_FADV_DONTNEED));
  switch_fault_on("read");
  for (const char* direct : {"--direct=auto", "--direct=never"}) {
    const Fd source(disk_.path() + "/source", O_RDONLY);
    ASSERT_EQ(0, ::posix_fadvise(source.get(), 0, 0, POSIX_FADV_DONTNEED));
    expect_failure(aiscp({direct, disk_.path() + "/source", "old"}),
                   "aiscp: error reading '" + disk_.path() + "/source': Input/output error");
    expect_content("old", 1000, 2);
  }
}

TEST_F(AiscpFailingDiskTest, OldFileIsKeptWhenTheFileSystemTurnsReadOnly) {
  const auto turn_read_only = [this] {
    ASSERT_EQ("", shell("echo test >/sys/fs/ext4/$(basename $(findmnt -no SOURCE '" + disk_.path() +
                        "'))/trigger_fs_error")
                      .err);
  };
  expect_error(copy_while({"from", to()}, turn_read_only), "Read-only file system");
  EXPECT_EQ(make_pattern(1000, 2), read_file(to()));
  expect_error(aiscp({"from", to()}), "Read-only file system");
}

class AiscpLimitTest : public AiscpTest {};

TEST_F(AiscpLimitTest, SourceLargerThanABlockDeviceIsAnErrorWithAName) {
  LoopDisk disk;
  const std::string why = disk.attach("512", 4);
  if (!why.empty()) GTEST_SKIP() << why;
  make("from", 5 * kMiB);
  expect_failure(aiscp({"from", disk.device()}), "aiscp: error writing '" + disk.device() +
                                                     "': No space left on device; '" +
                                                     disk.device() + "' is incomplete");
}

TEST_F(AiscpLimitTest, DeviceShortOfMemoryGetsSmallerChunks) {
  if (is_on_gpu()) GTEST_SKIP() << "a GPU's memory is what it is: shortage_test takes it away";
  make("from", 40 * kMiB + 5);
  make("old", 1000, 2);
  const std::string variable = is_on_nvidia() ? "FAKE_CUDA_MEMORY=" : "HIP_PORTABLE_MEMORY=";
  expect_silent_success(shell(variable + "4194304 exec $AISCP --chunk-size=16M from to"));
  expect_content("to", 40 * kMiB + 5);
  // Nothing is truncated before there is memory for the copy.
  expect_error(shell(variable + "4096 exec $AISCP --inplace from old"),
               "aiscp: cannot copy 'from': cannot allocate device memory: hipErrorOutOfMemory");
  expect_content("old", 1000, 2);
}

TEST_F(AiscpLimitTest, QuotaIsAnErrorWithAName) {
  FileSystem disk;
  const std::string why = disk.mount("btrfs", 512);
  if (!why.empty()) GTEST_SKIP() << why;
  const std::string quota = disk.path() + "/q";
  const ProcessResult limited =
      shell("PATH=$PATH:/sbin:/usr/sbin; cd " + disk.path() + " && btrfs quota enable . && " +
            "btrfs subvolume create q && btrfs qgroup limit 24M q");
  ASSERT_EQ(0, limited.exit_code) << limited.err;
  make("from", 40 * kMiB);
  write_file(quota + "/old", make_pattern(1000, 2));
  expect_failure(aiscp({"from", quota + "/new"}),
                 "aiscp: error writing '" + quota + "/new': Disk quota exceeded");
  expect_failure(aiscp({"from", quota + "/old"}),
                 "aiscp: error writing '" + quota + "/old': Disk quota exceeded; the old file is " +
                     "kept (--inplace needs no room for both)");
  EXPECT_EQ(make_pattern(1000, 2), read_file(quota + "/old"));
  EXPECT_EQ("old\n", shell("ls -A " + quota).out);
  expect_failure(aiscp({"--inplace", "from", quota + "/old"}), "aiscp: error writing '" + quota +
                                                                   "/old': Disk quota exceeded; '" +
                                                                   quota + "/old' is incomplete");
}

TEST_F(AiscpLimitTest, LargestFileOfAFileSystemIsAnErrorWithAName) {
  FileSystem from, to;
  std::string why = from.mount("xfs-4096", 512);
  // Without extents and with small blocks a file ends at 16 GiB.
  if (why.empty()) {
    why = to.mount_image("ext4", at("image"), 64,
                         {"-F", "-b", "1024", "-O", "^extent,^64bit,^metadata_csum"}, "");
  }
  if (!why.empty()) GTEST_SKIP() << why;
  const std::string hole = from.path() + "/hole", data = from.path() + "/data";
  write_file(hole, {});
  write_file(data, {});
  ASSERT_EQ(0, ::truncate(hole.c_str(), 20 * kGiB));
  {
    const Fd fd(data, O_WRONLY);
    ASSERT_EQ(4, ::pwrite(fd.get(), "data", 4, 18 * kGiB));
  }
  const std::string target = to.path() + "/to";
  expect_failure(aiscp({hole, target}), "aiscp: failed to extend '" + target + "': File too large");
  expect_failure(aiscp({data, target}), "aiscp: error writing '" + target + "': File too large");
  EXPECT_NE(0, ::access(target.c_str(), F_OK));
}

}  // namespace
}  // namespace hipfile::test
