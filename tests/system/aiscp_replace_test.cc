// SPDX-License-Identifier: MIT
// What becomes of an old destination: replaced by a new file, or overwritten in place; and what
// permissions a new one gets.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "aiscp_fixture.h"

namespace hipfile::test {
namespace {

class AiscpReplaceTest : public AiscpTest {
 protected:
  void SetUp() override {
    make("from", 5000, 1);
    make("to", 9000, 2);
  }
  ino_t inode() const { return status_of("to").st_ino; }

  /// Copies and says whether the old file was overwritten in place.
  bool is_copied_in_place(std::vector<std::string> arguments = {"from", "to"}) {
    const ino_t before = inode();
    // The old inode's number must not be given to the new file.
    const Fd hold(at("to"), O_RDONLY);
    expect_silent_success(aiscp(std::move(arguments)));
    expect_content("to", 5000, 1);
    return inode() == before;
  }
};

TEST_F(AiscpReplaceTest, OldFileIsReplacedAndKeepsItsMode) {
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0751));
  EXPECT_FALSE(is_copied_in_place());
  EXPECT_EQ(0751u, mode_of("to"));
}

TEST_F(AiscpReplaceTest, OldFileKeepsItsOwner) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chown(at("to").c_str(), 1234, 2345));
  EXPECT_FALSE(is_copied_in_place());
  EXPECT_EQ(1234u, status_of("to").st_uid);
  EXPECT_EQ(2345u, status_of("to").st_gid);
}

TEST_F(AiscpReplaceTest, OldFileKeepsItsAttributes) {
  if (!can_set_xattr()) GTEST_SKIP() << "no user attributes here";
  ASSERT_EQ(0, ::setxattr(at("to").c_str(), "user.colour", "blue", 4, 0));
  ASSERT_EQ(0, ::setxattr(at("from").c_str(), "user.colour", "red", 3, 0));
  EXPECT_FALSE(is_copied_in_place());
  char value[16] = {};
  ASSERT_EQ(4, ::getxattr(at("to").c_str(), "user.colour", value, sizeof value));
  EXPECT_STREQ("blue", value);
}

TEST_F(AiscpReplaceTest, OldFileKeepsItsAcl) {
  if (shell("setfacl -m u:1234:rw to").exit_code != 0) GTEST_SKIP() << "no ACLs here";
  const std::string before = shell("getfacl -c to").out;
  EXPECT_FALSE(is_copied_in_place());
  EXPECT_EQ(before, shell("getfacl -c to").out);
}

TEST_F(AiscpReplaceTest, OldFileKeepsItsInodeFlags) {
  if (shell("chattr +Ad to").exit_code != 0) GTEST_SKIP() << "no inode flags here";
  const std::string before = shell("lsattr to").out;
  EXPECT_FALSE(is_copied_in_place());
  EXPECT_EQ(before, shell("lsattr to").out);
}

TEST_F(AiscpReplaceTest, ImmutableFileIsRefusedAndNothingIsLeft) {
  for (const char* flag : {"i", "a"}) {
    SCOPED_TRACE(flag);
    if (shell(std::string("chattr +") + flag + " to").exit_code != 0) {
      GTEST_SKIP() << "no inode flags here";
    }
    const ProcessResult plain = aiscp({"from", "to"}), forced = aiscp({"-f", "from", "to"});
    EXPECT_EQ(0, shell(std::string("chattr -") + flag + " to").exit_code);
    expect_failure(plain, "aiscp: cannot create regular file 'to': Operation not permitted");
    expect_failure(forced, "aiscp: cannot remove 'to': Operation not permitted");
    expect_content("to", 9000, 2);
    EXPECT_EQ((std::vector<std::string>{"from", "to"}), names());
  }
}

TEST_F(AiscpReplaceTest, CapabilitiesGoAsAWriteMakesThemGo) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0755));
  if (shell("PATH=$PATH:/sbin:/usr/sbin; setcap cap_net_raw+ep to").exit_code != 0) {
    GTEST_SKIP() << "no capabilities of files here";
  }
  expect_silent_success(aiscp({"from", "to"}));
  expect_content("to", 5000, 1);
  EXPECT_EQ("", shell("PATH=$PATH:/sbin:/usr/sbin; getcap to").out);
}

TEST_F(AiscpReplaceTest, UnreadableFileIsOverwrittenInPlace) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chmod(directory().c_str(), 0777));
  ASSERT_EQ(0, ::chown(at("to").c_str(), 65534, 65534));
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0200));
  const ino_t before = inode();
  const Fd hold(at("to"), O_RDONLY);
  expect_silent_success(aiscp_as_nobody({"from", "to"}));
  expect_content("to", 5000, 1);
  EXPECT_EQ(before, inode());
}

TEST_F(AiscpReplaceTest, SetIdBitsGoAsAWriteMakesThemGo) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  // Compared with what cp does to the same file.
  for (const char* who : {"", "setpriv --reuid=1234 --regid=1234 --clear-groups"}) {
    SCOPED_TRACE(who);
    const ProcessResult result = shell(std::string(R"(
      for f in a b; do cp to $f; chown 1234:1234 $f; chmod 6755 $f; done; chmod 777 .
      )") + who + " cp from a && " + who + " $AISCP from b && stat -c %a:%u a b; chmod 755 .");
    EXPECT_EQ("", result.err);
    ASSERT_EQ(0u, result.out.size() % 2);
    EXPECT_EQ(result.out.substr(0, result.out.size() / 2),
              result.out.substr(result.out.size() / 2));
  }
}

TEST_F(AiscpReplaceTest, FileWithSeveralNamesIsOverwrittenInPlace) {
  ASSERT_EQ(0, ::link(at("to").c_str(), at("other").c_str()));
  EXPECT_TRUE(is_copied_in_place());
  expect_content("other", 5000, 1);
}

TEST_F(AiscpReplaceTest, FileOpenForWritingIsOverwrittenInPlace) {
  const Fd writer(at("to"), O_WRONLY);
  EXPECT_TRUE(is_copied_in_place());
}

TEST_F(AiscpReplaceTest, InplaceOverwrites) {
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0640));
  EXPECT_TRUE(is_copied_in_place({"--inplace", "from", "to"}));
  EXPECT_EQ(0640u, mode_of("to"));
}

TEST_F(AiscpReplaceTest, MountPointIsOverwrittenInPlace) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  make("mounted", 7000, 3);
  if (::mount(at("mounted").c_str(), at("to").c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "no bind mounts";
  }
  const ProcessResult result = aiscp({"from", "to"});
  EXPECT_EQ(0, ::umount2(at("to").c_str(), MNT_DETACH));
  expect_silent_success(result);
  expect_content("mounted", 5000, 1);
  expect_content("to", 9000, 2);
}

TEST_F(AiscpReplaceTest, FileInADirectoryWithoutPermissionIsOverwrittenInPlace) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0666));
  const ino_t before = inode();
  expect_silent_success(aiscp_as_nobody({"from", "to"}));
  expect_content("to", 5000, 1);
  EXPECT_EQ(before, inode());
}

TEST_F(AiscpReplaceTest, FileOfAnotherOwnerIsOverwrittenInPlace) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chmod(at("to").c_str(), 0666));
  ASSERT_EQ(0, ::chmod(directory().c_str(), 0777));
  const ino_t before = inode();
  expect_silent_success(aiscp_as_nobody({"from", "to"}));
  expect_content("to", 5000, 1);
  EXPECT_EQ(before, inode());
  EXPECT_EQ(0u, status_of("to").st_uid);
}

TEST_F(AiscpReplaceTest, TargetOfASymlinkIsReplaced) {
  ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  ASSERT_EQ(0, ::rename(at("to").c_str(), at("d/real").c_str()));
  ASSERT_EQ(0, ::symlink("d/real", at("to").c_str()));
  EXPECT_FALSE(is_copied_in_place());
  struct stat st {};
  ASSERT_EQ(0, ::lstat(at("to").c_str(), &st));
  EXPECT_TRUE(S_ISLNK(st.st_mode));
  expect_content("d/real", 5000, 1);
}

TEST_F(AiscpReplaceTest, RedirectedOutputIsOverwritten) {
  const ProcessResult result = shell("$AISCP from /dev/stdout >to");
  EXPECT_EQ("", result.err);
  EXPECT_EQ(0, result.exit_code);
  expect_content("to", 5000, 1);
}

TEST_F(AiscpReplaceTest, ForceReplacesWhatCannotBeOpened) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(0, ::chmod(directory().c_str(), 0777));
  expect_failure(aiscp_as_nobody({"from", "to"}),
                 "aiscp: cannot create regular file 'to': Permission denied");
  expect_content("to", 9000, 2);
  const ProcessResult result = aiscp_as_nobody({"-fv", "from", "to"});
  EXPECT_EQ(0, result.exit_code) << result.err;
  EXPECT_EQ("removed 'to'\n'from' -> 'to'\n", result.out);
  expect_content("to", 5000, 1);
  EXPECT_EQ(65534u, status_of("to").st_uid);
}

TEST_F(AiscpReplaceTest, ForceFailsInCpsWordsWhereNamesCannotBeRemoved) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  expect_failure(aiscp_as_nobody({"-f", "from", "to"}),
                 "aiscp: cannot remove 'to': Permission denied");
  expect_content("to", 9000, 2);
}

TEST_F(AiscpReplaceTest, RunningProgramIsRefusedUnlessForced) {
  const ProcessResult result = shell(R"sh(
    cp "$(command -v sleep)" to && chmod 755 to || exit 99
    ./to 5 & pid=$!
    sleep 0.2
    $AISCP from to; echo $?
    $AISCP -f from to; echo $?
    kill $pid)sh");
  EXPECT_EQ("1\n0\n", result.out);
  EXPECT_EQ("aiscp: cannot create regular file 'to': Text file busy\n", result.err);
  expect_content("to", 5000, 1);
}

TEST_F(AiscpReplaceTest, NewFilesModeIsTheSourcesUnderTheUmask) {
  for (const char* mode : {"644", "755", "600", "444", "4755", "000"}) {
    for (const char* mask : {"022", "077", "002", "000"}) {
      const ProcessResult result = shell(std::string("umask ") + mask + "; chmod " + mode +
                                         " from; cp from a; $AISCP from b; stat -c %a a b; "
                                         "rm -f a b");
      const size_t half = result.out.size() / 2;
      EXPECT_EQ(result.out.substr(0, half), result.out.substr(half)) << mode << " " << mask;
    }
  }
}

TEST_F(AiscpReplaceTest, NewFileGetsTheDirectorysDefaultAcl) {
  ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755));
  if (shell("setfacl -d -m u:1234:rwx,g:55:r,o::- d").exit_code != 0) {
    GTEST_SKIP() << "no ACLs here";
  }
  for (const char* mode : {"644", "755", "600", "666"}) {
    const ProcessResult result =
        shell(std::string("umask 027; chmod ") + mode + " from; cp from d/a; $AISCP from d/b; " +
              "getfacl -c d/a; getfacl -c d/b; rm d/a d/b");
    EXPECT_EQ("", result.err);
    const size_t half = result.out.size() / 2;
    EXPECT_EQ(result.out.substr(0, half), result.out.substr(half)) << mode;
  }
}

TEST_F(AiscpReplaceTest, FsyncedCopiesAreCopies) {
  EXPECT_FALSE(is_copied_in_place({"--fsync", "from", "to"}));
  expect_silent_success(aiscp({"--fsync", "from", "new"}));
  expect_content("new", 5000, 1);
}

}  // namespace
}  // namespace hipfile::test
