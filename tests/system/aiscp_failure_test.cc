// SPDX-License-Identifier: MIT
// Copies that fail half-way: full disks, limits, signals. Nothing half-written is ever left under a
// name, and what was there before still is.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "aiscp_fixture.h"
#include "file_systems.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

using AiscpFailureTest = AiscpTest;

/// Copies into a small file system of its own.
class AiscpFullDiskTest : public AiscpTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const std::string why = disk_.mount(GetParam(), 48);
    if (!why.empty()) GTEST_SKIP() << why;
    if (GetParam() == std::string("tmpfs")) {
      ASSERT_EQ(0, shell("mount -o remount,size=48m '" + disk_.path() + "'").exit_code);
    }
    make("from", 64 * kMiB);
  }
  std::string to() const { return disk_.path() + "/to"; }
  std::string listing() const {
    return shell("ls -A '" + disk_.path() + "' | grep -v lost+found").out;
  }

  FileSystem disk_;
};

TEST_P(AiscpFullDiskTest, NothingIsLeftOfANewFile) {
  expect_failure(aiscp({"from", to()}),
                 "aiscp: error writing '" + to() + "': No space left on device");
  EXPECT_EQ("", listing());
}

TEST_P(AiscpFullDiskTest, OldFileIsKept) {
  write_file(to(), make_pattern(1000, 2));
  const ProcessResult result = aiscp({"from", to()});
  EXPECT_EQ(1, result.exit_code);
  EXPECT_NE(std::string::npos, result.err.find("No space left on device")) << result.err;
  EXPECT_NE(std::string::npos, result.err.find("--inplace")) << result.err;
  EXPECT_EQ("to\n", listing());
  EXPECT_EQ(make_pattern(1000, 2), read_file(to()));
}

TEST_P(AiscpFullDiskTest, OverwrittenFileIsCalledIncomplete) {
  write_file(to(), make_pattern(1000, 2));
  const ProcessResult result = aiscp({"--inplace", "from", to()});
  EXPECT_EQ(1, result.exit_code);
  EXPECT_NE(std::string::npos, result.err.find("is incomplete")) << result.err;
  // What was reserved in vain is given back.
  EXPECT_LT(status_of_path(to()).st_blocks, off_t{2048});
}

TEST_P(AiscpFullDiskTest, OnlyDataNeedsRoom) {
  make("sparse", 4096);
  ASSERT_EQ(0, ::truncate(at("sparse").c_str(), 200 * kMiB));
  const std::string type = shell("stat -fc %T .").out;
  if (type != "ext2/ext3\n" && type != "xfs\n" && type != "btrfs\n" && type != "tmpfs\n") {
    GTEST_SKIP() << "holes are not known on " << type;
  }
  expect_silent_success(aiscp({"sparse", to()}));
}

INSTANTIATE_TEST_SUITE_P(, AiscpFullDiskTest, testing::Values("tmpfs", "ext4-512"),
                         [](const auto& kind) { return std::string(kind.param).substr(0, 4); });

TEST_F(AiscpFailureTest, LimitOfTheFileSizeIsAnErrorWithAName) {
  make("from", 3 * kMiB);
  make("old", 100, 2);
  const ProcessResult result =
      shell("ulimit -f 1024; $AISCP from to; echo $?; $AISCP from old; echo $?");
  EXPECT_EQ("1\n1\n", result.out);
  EXPECT_NE(std::string::npos, result.err.find("aiscp: error writing 'to': File too large\n"))
      << result.err;
  EXPECT_EQ((std::vector<std::string>{"from", "old"}), names());
  expect_content("old", 100, 2);
}

TEST_F(AiscpFailureTest, LimitInsideTheLastBlockDoesNotMatter) {
  make("from", 1500);
  const ProcessResult result = shell("ulimit -f 2; $AISCP from to; echo $?");
  EXPECT_EQ("0\n", result.out) << result.err;
  expect_content("to", 1500);
}

class AiscpSignalTest : public AiscpTest {
 protected:
  void SetUp() override { make("from", 256 * kMiB); }

  /// Sends a signal to a slow copy and returns its exit status.
  std::string status_after(const std::string& signal, const std::string& to,
                           const std::string& prefix = "env --default-signal=INT,TERM,HUP") {
    const ProcessResult result =
        shell(prefix + " $AISCP --chunk-size=4K --jobs=1 from " + to +
              " & pid=$!; sleep 0.3; kill -" + signal + " $pid; wait $pid; echo $?");
    said_ = result.err;
    return result.out;
  }
  std::string said_;
};

TEST_F(AiscpSignalTest, NothingIsLeftAndTheShellSeesTheSignal) {
  EXPECT_EQ("130\n", status_after("INT", "to"));
  EXPECT_EQ("143\n", status_after("TERM", "to"));
  EXPECT_EQ("129\n", status_after("HUP", "to"));
  EXPECT_EQ((std::vector<std::string>{"from"}), names());
}

TEST_F(AiscpSignalTest, OldFileIsKept) {
  make("to", 1000, 2);
  EXPECT_EQ("143\n", status_after("TERM", "to"));
  expect_content("to", 1000, 2);
  EXPECT_EQ((std::vector<std::string>{"from", "to"}), names());
}

TEST_F(AiscpSignalTest, OverwrittenFileIsCalledIncomplete) {
  make("to", 1000, 2);
  EXPECT_EQ("143\n", status_after("TERM", "to --inplace"));
  EXPECT_NE(std::string::npos, said_.find("'to' is incomplete")) << said_;
}

TEST_F(AiscpSignalTest, SignalIgnoredAtStartStaysIgnored) {
  make("from", 16 * kMiB);
  EXPECT_EQ("0\n", status_after("HUP", "to", "nohup"));
  expect_content("to", 16 * kMiB);
}

// Not a signal test: it runs on every file system.
TEST_F(AiscpFailureTest, KilledCopyLeavesNothingUnderTheFinalName) {
  make("from", 192 * kMiB);
  const ProcessResult result = shell(
      "$AISCP --chunk-size=4K --jobs=1 from to & pid=$!; sleep 0.1; kill -KILL $pid; "
      "wait $pid; echo $?");
  EXPECT_EQ("137\n", result.out) << "it had ended before it was killed";
  const std::vector<std::string> left = names();
  EXPECT_EQ(0, std::count(left.begin(), left.end(), "to"));
}

TEST_F(AiscpFailureTest, ClosedStandardOutputMattersOnlyIfSomethingIsSaid) {
  make("from", 1000);
  EXPECT_EQ("0\n", shell("($AISCP from to >&-); echo $?").out);
  expect_content("to", 1000);
  EXPECT_EQ("0\n", shell("($AISCP from to <&- >&- 2>&-); echo $?").out);
  expect_content("to", 1000);
  EXPECT_EQ("1\n", shell("($AISCP -v from to >&- 2>/dev/null); echo $?").out);
  expect_content("to", 1000);
}

TEST_F(AiscpFailureTest, ReadOnlyFileSystemIsRefusedInCpsWords) {
  FileSystem disk;
  const std::string why = disk.mount("tmpfs", 8);
  if (!why.empty()) GTEST_SKIP() << why;
  make("from", 10);
  write_file(disk.path() + "/old", make_pattern(10, 2));
  ASSERT_EQ(0, shell("mount -o remount,ro '" + disk.path() + "'").exit_code);
  for (const char* name : {"/new", "/old"}) {
    const std::string to = disk.path() + name;
    expect_failure(aiscp({"from", to}),
                   "aiscp: cannot create regular file '" + to + "': Read-only file system");
  }
}

}  // namespace
}  // namespace hipfile::test
