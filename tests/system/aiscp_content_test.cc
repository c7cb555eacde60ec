// SPDX-License-Identifier: MIT
// The bytes: every size, holes, files without a size, files that change meanwhile.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "aiscp_fixture.h"
#include "file_systems.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

using AiscpContentTest = AiscpTest;

TEST_F(AiscpContentTest, EverySizeIsCopied) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{511}, size_t{512}, size_t{513}, size_t{4095},
                      size_t{4096}, size_t{4097}, 8 * kMiB - 1, 8 * kMiB, 8 * kMiB + 1}) {
    SCOPED_TRACE(size);
    make("from", size);
    expect_silent_success(aiscp({"from", "to"}));
    expect_content("to", size);
    ASSERT_EQ(0, ::unlink(at("to").c_str()));
  }
}

TEST_F(AiscpContentTest, ChunksOfAnySizeAndNumberGiveTheSameFile) {
  make("from", 3 * kMiB + 17);
  for (const char* chunk : {"--chunk-size=1", "--chunk-size=4096", "--chunk-size=64K",
                            "--chunk-size=1000001", "--chunk-size=1G"}) {
    for (const char* jobs : {"--jobs=1", "--jobs=2", "-j9"}) {
      SCOPED_TRACE(std::string(chunk) + " " + jobs);
      if (std::string(chunk) == "--chunk-size=1" && std::string(jobs) != "--jobs=2") continue;
      expect_silent_success(aiscp({chunk, jobs, "from", "to"}));
      expect_content("to", 3 * kMiB + 17);
    }
  }
}

TEST_F(AiscpContentTest, EveryKindOfDirectIsCopiedOrRefusedWithAReason) {
  make("from", kMiB + 5);
  expect_silent_success(aiscp({"--direct=never", "from", "to"}));
  expect_content("to", kMiB + 5);
  expect_silent_success(aiscp({"--direct=auto", "from", "to2"}));
  expect_content("to2", kMiB + 5);
  const ProcessResult always = aiscp({"--direct=always", "from", "to3"});
  if (always.exit_code == 0) {
    expect_content("to3", kMiB + 5);
  } else {
    EXPECT_NE(std::string::npos, always.err.find("with O_DIRECT: ")) << always.err;
    EXPECT_NE(0, ::access(at("to3").c_str(), F_OK));
  }
}

TEST_F(AiscpContentTest, EmptySourceEmptiesAnOldDestination) {
  make("from", 0);
  make("to", 5000);
  expect_silent_success(aiscp({"from", "to"}));
  expect_content("to", 0);
}

TEST_F(AiscpContentTest, NothingButTheCopyIsLeft) {
  make("from", 5000);
  expect_silent_success(aiscp({"from", "to"}));
  expect_silent_success(aiscp({"from", "to"}));
  EXPECT_EQ((std::vector<std::string>{"from", "to"}), names());
}

TEST_F(AiscpContentTest, NewFileIsNotOlderThanItsSource) {
  make("from", 5000);
  expect_silent_success(aiscp({"from", "to"}));
  expect_silent_success(aiscp({"from", "from2"}));
  expect_silent_success(aiscp({"from2", "to"}));
  EXPECT_EQ("", shell("[ from -nt to ] && echo older; [ from2 -nt to ] && echo older").out);
}

TEST_F(AiscpContentTest, PaddingOfTheLastBlockIsZero) {
  make("large", 8 * kMiB);  // leaves its bytes in device memory
  // Where a read stops at the last byte: a direct one would fill the block.
  const TempDir memory("/dev/shm");
  write_file(memory.file("small"), make_pattern(5, 1));
  ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  // Nothing is cut off, so what was written behind the end can be seen.
  expect_silent_success(shell("export LD_PRELOAD=" TEST_IGNORED_CALLS
                              " HIPFILE_TEST_IGNORE=ftruncate; exec $AISCP large " +
                              memory.file("small") + " d"));
  expect_content("d/large", 8 * kMiB);
  std::vector<uint8_t> expected = make_pattern(5, 1);
  expected.resize(static_cast<size_t>(status_of("d/small").st_size));
  EXPECT_EQ(expected, read_file(at("d/small")));
  const std::string type = shell("stat -fc %T .").out;
  if (type == "ext2/ext3\n" || type == "xfs\n") {
    EXPECT_EQ(4096u, expected.size()) << "nothing was padded";
  }
}

TEST_F(AiscpContentTest, SeveralSourcesGoIntoADirectory) {
  make("one", 10, 1);
  make("two", 20, 2);
  ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  expect_silent_success(aiscp({"one", "two", "d"}));
  expect_content("d/one", 10, 1);
  expect_content("d/two", 20, 2);
  expect_silent_success(aiscp({"-t", "d", "two"}));
  expect_silent_success(aiscp({"one", "d/"}));
}

TEST_F(AiscpContentTest, FileWithoutASizeIsCopiedToItsRealEnd) {
  const ProcessResult read = shell("cat /proc/version");
  expect_silent_success(aiscp({"/proc/version", "to"}));
  const std::vector<uint8_t> copy = read_file(at("to"));
  EXPECT_EQ(read.out, std::string(copy.begin(), copy.end()));
}

TEST_F(AiscpContentTest, LongFileWithoutASizeIsCopiedToItsRealEnd) {
  const ProcessResult read = shell("cat /proc/kallsyms | wc -c");
  expect_silent_success(aiscp({"/proc/kallsyms", "to"}));
  EXPECT_EQ(std::stoll(read.out), status_of("to").st_size);
}

TEST_F(AiscpContentTest, FileThatEndsBeforeItsSizeIsAcceptedOnSysfs) {
  if (::access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) GTEST_SKIP();
  expect_silent_success(aiscp({"/sys/kernel/mm/transparent_hugepage/enabled", "to"}));
  EXPECT_GT(status_of("to").st_size, 0);
  EXPECT_LT(status_of("to").st_size, 4096);
}

TEST_F(AiscpContentTest, HolesStayHolesWhereTheFileSystemKnowsThem) {
  {
    Fd fd(at("from"), O_WRONLY | O_CREAT);
    ASSERT_EQ(0, ::ftruncate(fd.get(), 64 * kMiB + 3));
    const std::vector<uint8_t> data = make_pattern(100000, 1);
    ASSERT_EQ(100000, ::pwrite(fd.get(), data.data(), data.size(), 20 * kMiB + 5));
  }
  expect_silent_success(aiscp({"from", "to"}));
  EXPECT_EQ(read_file(at("from")), read_file(at("to")));
  EXPECT_EQ("0\n", shell("cmp from to >&2; echo $?").out);
  const std::string type = shell("stat -fc %T .").out;
  if (type == "ext2/ext3\n" || type == "xfs\n" || type == "btrfs\n" || type == "tmpfs\n") {
    EXPECT_LT(status_of("to").st_blocks, 2048) << "of 512 bytes, for 100000 bytes of data";
  }
}

TEST_F(AiscpContentTest, NothingIsReservedBehindTheLastBlock) {
  const std::string type = shell("stat -fc %T .").out;
  if (type != "ext2/ext3\n" && type != "xfs\n") GTEST_SKIP() << "blocks are counted otherwise";
  for (size_t size : {9 * kMiB, 9 * kMiB + 5}) {  // cut at the end, and not
    make("from", size);
    ASSERT_EQ(0, shell("rm -f to").exit_code);
    expect_silent_success(aiscp({"from", "to"}));
    EXPECT_EQ(static_cast<blkcnt_t>((size + 4095) / 4096 * 8), status_of("to").st_blocks);
  }
}

TEST_F(AiscpContentTest, FileOfNothingButAHoleKeepsItsSize) {
  make("from", 0);
  ASSERT_EQ(0, ::truncate(at("from").c_str(), 10 * kMiB + 1));
  expect_silent_success(aiscp({"from", "to"}));
  EXPECT_EQ(static_cast<off_t>(10 * kMiB + 1), status_of("to").st_size);
}

TEST_F(AiscpContentTest, GrowingFileHasAnEndAndAWarning) {
  make("from", 4 * kMiB);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    Fd fd(at("from"), O_WRONLY | O_APPEND);
    const std::vector<uint8_t> more = make_pattern(65536, 3);
    while (!is_over && status_of("from").st_size < static_cast<off_t>(300 * kMiB)) {
      (void)!::write(fd.get(), more.data(), more.size());
    }
  });
  const ProcessResult result = aiscp({"from", "to"});
  is_over = true;
  writer.join();
  EXPECT_EQ(0, result.exit_code);
  EXPECT_EQ("aiscp: warning: 'from' changed while it was copied\n", result.err);
  EXPECT_GE(status_of("to").st_size, static_cast<off_t>(4 * kMiB));
  EXPECT_EQ("", shell("cmp -n $(stat -c %s to) from to").out);
}

TEST_F(AiscpContentTest, BlockDeviceIsCopiedToItsEnd) {
  LoopDisk disk;
  const std::string why = disk.attach("512", 16);
  if (!why.empty()) GTEST_SKIP() << why;
  make("image", 16 * kMiB);
  expect_silent_success(aiscp({"image", disk.device()}));
  expect_silent_success(aiscp({disk.device(), "copy"}));
  expect_content("copy", 16 * kMiB);
}

TEST_F(AiscpContentTest, NothingBehindTheCopyIsWrittenToABlockDevice) {
  LoopDisk disk;
  const std::string why = disk.attach("512", 16);
  if (!why.empty()) GTEST_SKIP() << why;
  make("image", 16 * kMiB, 1);
  make("small", 4097 + 100, 2);
  expect_silent_success(aiscp({"image", disk.device()}));
  expect_silent_success(aiscp({"small", disk.device()}));
  expect_silent_success(aiscp({disk.device(), "copy"}));
  std::vector<uint8_t> expected = make_pattern(16 * kMiB, 1);
  const std::vector<uint8_t> small = make_pattern(4197, 2);
  std::copy(small.begin(), small.end(), expected.begin());
  EXPECT_EQ("", first_difference(read_file(at("copy")), expected));
}

TEST_F(AiscpContentTest, HolesAreWrittenToABlockDevice) {
  LoopDisk disk;
  const std::string why = disk.attach("512", 16);
  if (!why.empty()) GTEST_SKIP() << why;
  make("image", 16 * kMiB, 1);
  make("sparse", 0);
  ASSERT_EQ(0, ::truncate(at("sparse").c_str(), 4 * kMiB));
  expect_silent_success(aiscp({"image", disk.device()}));
  expect_silent_success(aiscp({"sparse", disk.device()}));
  expect_silent_success(aiscp({disk.device(), "copy"}));
  std::vector<uint8_t> expected = make_pattern(16 * kMiB, 1);
  std::fill_n(expected.begin(), 4 * kMiB, uint8_t{0});
  EXPECT_EQ("", first_difference(read_file(at("copy")), expected));
}

}  // namespace
}  // namespace hipfile::test
