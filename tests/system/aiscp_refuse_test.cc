// SPDX-License-Identifier: MIT
// What is refused, and in whose words: those of the machine's own cp where cp refuses it too.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "aiscp_fixture.h"
#include "file_systems.h"

namespace hipfile::test {
namespace {

class AiscpRefuseTest : public AiscpTest {
 protected:
  void SetUp() override {
    make("a", 5000, 1);
    ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  }

  /// cp and aiscp fail with the same words. cp has 1 for wrong usage, aiscp 2.
  void expect_cps_words(const std::string& arguments, int status = 1,
                        const std::string& locale = "C") {
    SCOPED_TRACE(arguments);
    const std::string before = "export LC_ALL=" + locale + "; ";
    const ProcessResult mine = shell(before + "$AISCP " + arguments);
    const ProcessResult theirs = shell(before + "cp " + arguments +
                                       " 2>&1 >/dev/null | sed \"s/^cp:/aiscp:/; "
                                       "s/'cp --/'aiscp --/\"; exit ${PIPESTATUS[0]}");
    EXPECT_EQ(1, theirs.exit_code);
    EXPECT_EQ(status, mine.exit_code);
    EXPECT_EQ(theirs.out, mine.err);
  }
};

TEST_F(AiscpRefuseTest, SameFileByAnyName) {
  ASSERT_EQ(0, ::link(at("a").c_str(), at("hard").c_str()));
  ASSERT_EQ(0, ::symlink("a", at("soft").c_str()));
  std::vector<std::string> cases = {"a a", "a ./a", "a soft", "soft a", "-f soft a", "-f a soft"};
  // Some file systems in user space give every name an inode of its own.
  if (status_of("a").st_ino == status_of("hard").st_ino) {
    cases.insert(cases.end(), {"a hard", "-f a hard"});
  }
  for (const std::string& arguments : cases) {
    expect_cps_words(arguments);
    expect_content("a", 5000, 1);
  }
}

TEST_F(AiscpRefuseTest, DirectoriesAndMissingNames) {
  make("ro", 1);
  ASSERT_EQ(0, ::symlink("nowhere", at("dangling").c_str()));
  for (const char* arguments :
       {"d b",          "-T a d",     "missing b",    "a missing/",    "a missing/b",
        "a a/",         "a/ b",       "a a/b",        "a dangling",    "-f a dangling",
        "'' b",         "a ''",       "a ro missing", "a d ro",        "-t ro a",
        "-t missing a", "\"it's\" b", "$'a\\nb' b",   "$'x\\n\\'y' b", "'a\"$'\\''' b",
        "'a b' c"}) {
    expect_cps_words(arguments);
  }
  expect_content("a", 5000, 1);
}

TEST_F(AiscpRefuseTest, NamesAreQuotedForTheTerminal) {
  // Missing sources: newline, tab, bytes that are no UTF-8, letters, a character of no width.
  for (const char* arguments :
       {"$'x\\ny' b", "$'x\\ty' b", "$'\\377\\376' b", "$'a\\377b\\'c' b", "$'\\303' b",
        "$'\\303\\274' b", "$'\\xe2\\x80\\x8b' b", "$'\\x1b[31m' b", "$'\\x7f' b", "' ' b",
        "'a*' b", "$'\\n' b", "-- -x b", "'#a' b", "'~' b", "$'\\xf0\\x9f\\x98\\x80' b"}) {
    expect_cps_words(arguments, 1, "C");
    expect_cps_words(arguments, 1, "C.UTF-8");
  }
}

TEST_F(AiscpRefuseTest, LoopsAndNamesThatAreTooLong) {
  ASSERT_EQ(0, ::symlink("loop", at("loop").c_str()));
  for (const char* arguments :
       {"loop b", "a loop", "a loop/b", "loop/a b", "-t loop a", "a a loop", "a $(printf %0300d 0)",
        "$(printf %0300d 0) b", "a $(printf %0300d 0)/b", "a d/$(printf %0300d 0)",
        "a a $(printf %0300d 0)", "a $(printf %05000d 0)"}) {
    expect_cps_words(arguments);
  }
  EXPECT_EQ((std::vector<std::string>{"a", "d", "loop"}), names());
  const ProcessResult forced = aiscp({"-fv", "a", "loop"});
  EXPECT_EQ("removed 'loop'\n'a' -> 'loop'\n", forced.out) << forced.err;
  expect_content("loop", 5000, 1);
}

TEST_F(AiscpRefuseTest, JustCreatedFileIsNotOverwritten) {
  ASSERT_EQ(0, ::mkdir(at("e").c_str(), 0755));
  ASSERT_EQ(0, ::mkdir(at("f").c_str(), 0755));
  make("e/a", 100, 2);
  expect_failure(aiscp({"a", "e/a", "d"}),
                 "aiscp: will not overwrite just-created 'd/a' with 'e/a'");
  expect_content("d/a", 5000, 1);
  const ProcessResult twice = aiscp({"a", "a", "f"});
  EXPECT_EQ("aiscp: warning: source file 'a' specified more than once\n", twice.err);
  EXPECT_EQ(0, twice.exit_code);
}

TEST_F(AiscpRefuseTest, WrongUsage) {
  for (const char* arguments : {"", "a", "-T a", "-T a b c", "-t d -T a", "--foo a b", "-t",
                                "--verb=3 a b", "-t d -t d a"}) {
    expect_cps_words(arguments, 2);
  }
}

TEST_F(AiscpRefuseTest, WrongValues) {
  for (const char* option :
       {"--chunk-size=0", "--chunk-size=", "--chunk-size=3x", "--chunk-size=-1", "--jobs=0",
        "--jobs=x", "--gpu=", "--gpu=1,", "--gpu=x", "--direct=maybe", "--progress=maybe",
        "--chunk-size=99999999999999999999", "--chunk-size=99999999999G"}) {
    const ProcessResult result = aiscp({option, "a", "b"});
    EXPECT_EQ(2, result.exit_code) << option;
    EXPECT_EQ(0u, result.err.find("aiscp: invalid argument ")) << result.err;
  }
  EXPECT_EQ((std::vector<std::string>{"a", "d"}), names());
}

TEST_F(AiscpRefuseTest, OptionsArePermutedAndAbbreviated) {
  const ProcessResult result = aiscp({"a", "--verb", "b", "--chunk=64k"});
  EXPECT_EQ(0, result.exit_code) << result.err;
  EXPECT_EQ("'a' -> 'b'\n", result.out);
  make("-x", 3, 2);
  make("[x,y]", 4, 3);
  expect_silent_success(aiscp({"--", "-x", "b"}));
  expect_content("b", 3, 2);
  expect_silent_success(aiscp({"[x,y]", "\xff\xfe"}));
  expect_content("\xff\xfe", 4, 3);
}

TEST_F(AiscpRefuseTest, SpecialFilesAreRefusedAtOnce) {
  ASSERT_EQ(0, ::mkfifo(at("fifo").c_str(), 0644));
  const Fd socket_fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  // The path may be longer than an address can be.
  ASSERT_LT(static_cast<size_t>(
                std::snprintf(address.sun_path, sizeof address.sun_path, "%s", at("sock").c_str())),
            sizeof address.sun_path);
  ASSERT_EQ(0,
            ::bind(socket_fd.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address));
  expect_failure(aiscp({"fifo", "b"}), "aiscp: -r not specified; omitting fifo 'fifo'");
  expect_failure(aiscp({"sock", "b"}), "aiscp: -r not specified; omitting socket 'sock'");
  expect_failure(aiscp({"/dev/zero", "b"}),
                 "aiscp: -r not specified; omitting character device '/dev/zero'");
  expect_failure(aiscp({"a", "fifo"}), "aiscp: cannot write to 'fifo': it is a fifo");
  expect_failure(aiscp({"a", "sock"}), "aiscp: cannot write to 'sock': it is a socket");
  const ProcessResult pipe = shell("$AISCP a /dev/stdout | cat");
  EXPECT_EQ("aiscp: cannot write to '/dev/stdout': it is a fifo\n", pipe.err);
  EXPECT_EQ((std::vector<std::string>{"a", "d", "fifo", "sock"}), names());
}

TEST_F(AiscpRefuseTest, UnreadableSourceAndUnwritableDirectory) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  expect_failure(aiscp_as_nobody({"a", "b"}),
                 "aiscp: cannot create regular file 'b': Permission denied");
  ASSERT_EQ(0, ::chmod(at("a").c_str(), 0600));
  ASSERT_EQ(0, ::chmod(at("d").c_str(), 0777));
  expect_failure(aiscp_as_nobody({"a", "d/b"}),
                 "aiscp: cannot open 'a' for reading: Permission denied");
}

TEST_F(AiscpRefuseTest, BusyBlockDeviceIsRefused) {
  LoopDisk disk;
  const std::string why = disk.attach("512", 16);
  if (!why.empty()) GTEST_SKIP() << why;
  const Fd holder(::open(disk.device().c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
  ASSERT_GE(holder.get(), 0);
  expect_failure(aiscp({"a", disk.device()}),
                 "aiscp: cannot open '" + disk.device() + "' for writing: Device or resource busy");
  expect_silent_success(aiscp({"-f", "a", disk.device()}));
}

TEST_F(AiscpRefuseTest, MissingGpuIsNeverReplacedByAnother) {
  const ProcessResult result = aiscp({"--gpu=77", "a", "b"});
  EXPECT_EQ(1, result.exit_code);
  EXPECT_EQ("aiscp: cannot use GPU 77: hipErrorInvalidDevice\n", result.err);
  EXPECT_EQ((std::vector<std::string>{"a", "d"}), names());
}

}  // namespace
}  // namespace hipfile::test
