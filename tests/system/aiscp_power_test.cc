// SPDX-License-Identifier: MIT
// Power cuts. The disk is an image on xfs; a FICLONE of it at a random moment is what a disk whose
// power went would hold. It is mounted, which replays its journal, and looked at: the old file or
// the new one must be there, whole. Another file is flushed all the time, so that the journal is
// written at every stage of the copy.
//
// The same copies without a flush must be torn: else this test could not see a missing one.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ostream>
#include <thread>

#include "aiscp_fixture.h"
#include "file_systems.h"
#include "random_run.h"

namespace hipfile::test {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

constexpr size_t kMiB = 1 << 20;
constexpr size_t kOldSize = 5 * kMiB + 7;
constexpr size_t kNewSize = 16 * kMiB + 5;
constexpr off_t kDiskSize = 320 * kMiB;
constexpr size_t kCutsOfARun = 3;
// _IOR('X', 125, uint32_t) of ext4 and xfs: stop, and flush nothing, not even the journal.
constexpr unsigned long kShutdown = _IOR('X', 125, uint32_t);
constexpr uint32_t kWithoutLogFlush = 2;

struct Kind {
  const char* name;
  std::vector<std::string> mkfs;
  /// ext4 flushes by itself what replaces another file, unless told not to.
  const char* mount_options;
};

const Kind kExt4{"ext4", {"mkfs.ext4", "-q", "-F", "-b", "4096"}, "noauto_da_alloc"};
const Kind kXfs{"xfs", {"mkfs.xfs", "-q", "-f"}, nullptr};
const Kind kBtrfs{"btrfs", {"mkfs.btrfs", "-q", "-f"}, nullptr};

/// Flushes a small file again and again.
class Committer {
 public:
  explicit Committer(const std::string& path)
      : fd_(path, O_WRONLY | O_CREAT), thread_([this] {
          for (uint64_t n = 0; !is_over_; ++n) {
            (void)!::pwrite(fd_.get(), &n, sizeof n, 0);
            (void)::fsync(fd_.get());
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
          }
        }) {}
  ~Committer() {
    is_over_ = true;
    thread_.join();
  }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

 private:
  Fd fd_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class AiscpPowerTest : public AiscpTest, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    std::string why = host_.mount("xfs-4096", 2048);
    if (!why.empty()) GTEST_SKIP() << why;
    write_file(at("from"), new_);
    ASSERT_EQ(0, ::mkdir(mounted().c_str(), 0755));
    const int image = ::open(image_of("base").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(0, ::ftruncate(image, kDiskSize));
    ::close(image);
    std::vector<std::string> mkfs = GetParam().mkfs;
    mkfs.push_back(image_of("base"));
    why = run_admin_tool(mkfs);
    if (why.empty()) why = mount_disk("base");
    if (!why.empty()) GTEST_SKIP() << why;
    write_file(mounted("to"), old_);
    unmount_disk();
  }

  std::string image_of(const std::string& disk) const { return host_.path() + "/" + disk; }
  std::string mounted(const std::string& name = "") const {
    return host_.path() + "/mounted" + (name.empty() ? "" : "/" + name);
  }

  std::string mount_disk(const std::string& disk) {
    LoopDisk loop;
    std::string why = loop.attach_file("4096", image_of(disk));
    if (why.empty() && ::mount(loop.device().c_str(), mounted().c_str(), GetParam().name, 0,
                               GetParam().mount_options) != 0) {
      why = "mount of " + disk + ", " + std::strerror(errno);
    }
    return why;
  }

  void unmount_disk() {
    for (int tries = 0; ::umount2(mounted().c_str(), 0) != 0; ++tries) {
      ASSERT_LT(tries, 1500) << std::strerror(errno);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// What the disk holds at this moment.
  void clone(const std::string& disk, const std::string& copy) const {
    const Fd from(image_of(disk), O_RDONLY), to(image_of(copy), O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT_EQ(0, ::ioctl(to.get(), FICLONE, from.get())) << std::strerror(errno);
  }

  /// "old", "new", or what is wrong.
  std::string look() const {
    if (::access(mounted("to").c_str(), F_OK) != 0) return "no file";
    const Bytes found = read_file(mounted("to"));
    if (found == old_) return "old";
    if (found == new_) return "new";
    return "torn: " + std::to_string(found.size()) + " bytes; " + first_difference(found, new_);
  }

  std::string look_at(const std::string& disk) {
    const std::string why = mount_disk(disk);
    if (!why.empty()) return why;
    const std::string found = look();
    unmount_disk();
    ::unlink(image_of(disk).c_str());
    return found;
  }

  std::vector<std::string> command(const std::string& option) const {
    return {AISCP_BINARY, option, "--chunk-size=1M", "from", mounted("to")};
  }

  Clock::duration measure() {
    clone("base", "disk");
    EXPECT_EQ("", mount_disk("disk"));
    const Clock::time_point begin = Clock::now();
    {
      const Committer committer(mounted("other"));
      expect_silent_success(run_process(command("--direct=auto"), options()));
    }
    const Clock::duration took = Clock::now() - begin;
    EXPECT_EQ("new", look());
    unmount_disk();
    return took;
  }

  /// One copy, cut at random moments and once after its end. What the cuts hold.
  std::vector<std::string> copy_and_cut(const std::string& option, Clock::duration whole,
                                        std::mt19937_64& random) {
    std::vector<int64_t> moments;
    for (size_t i = 0; i + 1 < kCutsOfARun; ++i) {
      moments.push_back(std::uniform_int_distribution<int64_t>(0, whole.count() * 11 / 10)(random));
    }
    std::sort(moments.begin(), moments.end());
    clone("base", "disk");
    EXPECT_EQ("", mount_disk("disk"));
    {
      const Committer committer(mounted("other"));
      const Clock::time_point begin = Clock::now();
      RunningProcess running(command(option), options());
      for (size_t i = 0; i < moments.size(); ++i) {
        std::this_thread::sleep_until(begin + Clock::duration(moments[i]));
        clone("disk", "cut" + std::to_string(i));
      }
      expect_silent_success(running.wait());
    }
    clone("disk", "cut" + std::to_string(moments.size()));
    unmount_disk();
    std::vector<std::string> found;
    for (size_t i = 0; i < kCutsOfARun; ++i) found.push_back(look_at("cut" + std::to_string(i)));
    return found;
  }

  /// What is there after a copy without a flush, once the journal was written.
  std::string copy_without_flush() {
    clone("base", "disk");
    EXPECT_EQ("", mount_disk("disk"));
    ProcessOptions preload = options();
    preload.environment.push_back("LD_PRELOAD=" TEST_IGNORED_CALLS);
    preload.environment.push_back("HIPFILE_TEST_IGNORE=fsync,fdatasync");
    expect_silent_success(run_process(command("--direct=never"), preload));
    write_journal();
    clone("disk", "cut");
    unmount_disk();
    return look_at("cut");
  }

  /// Without the data of files that nobody flushed.
  void write_journal() const {
    const Fd other(mounted("other"), O_WRONLY | O_CREAT);
    ASSERT_EQ(1, ::write(other.get(), "x", 1));
    ASSERT_EQ(0, ::fsync(other.get()));
  }

  FileSystem host_;
  const Bytes old_ = make_pattern(kOldSize, 2);
  Bytes new_ = make_pattern(kNewSize, 1);
};

TEST_P(AiscpPowerTest, OldFileOrTheNewOneIsThereAfterAPowerCut) {
  const size_t count = random_run_count(12);
  std::mt19937_64 random = random_run_generator();
  const Clock::duration whole = measure();
  size_t old = 0, cuts = 0;
  for (size_t run = 0; cuts < count && !HasFailure(); ++run) {
    const char* option = run % 2 == 0 ? "--direct=never" : "--direct=auto";
    SCOPED_TRACE(option);
    for (const std::string& found : copy_and_cut(option, whole, random)) {
      EXPECT_TRUE(found == "old" || found == "new") << found;
      if (found == "old") ++old;
      ++cuts;
    }
  }
  std::printf("%zu cuts: %zu held the old file\n", cuts, old);
  EXPECT_GT(old, 0u) << "the moments miss the copies";
}

/// Not btrfs: it cannot be told to stop, and flushes by itself what replaces another file.
class AiscpJournalTest : public AiscpPowerTest {};

TEST_P(AiscpJournalTest, CopyWithoutTheFlushIsTorn) {
  new_.resize(kNewSize / 4096 * 4096);  // cutting a file makes xfs flush it
  write_file(at("from"), new_);
  std::string found;
  for (int tries = 0; tries < 5; ++tries) {
    found = copy_without_flush();
    if (found != "old" && found != "new") break;
  }
  EXPECT_EQ(0u, found.find("torn: ")) << found;
}

TEST_P(AiscpJournalTest, OldFileOrTheNewOneIsThereAfterTheFileSystemWentDown) {
  const size_t count = random_run_count(12) / 3;
  std::mt19937_64 random = random_run_generator();
  const Clock::duration whole = measure();
  for (size_t run = 0; run < count && !HasFailure(); ++run) {
    clone("base", "disk");
    ASSERT_EQ("", mount_disk("disk"));
    {
      const Fd root(mounted(), O_RDONLY | O_DIRECTORY);
      const Committer committer(mounted("other"));
      RunningProcess running(command(run % 2 == 0 ? "--direct=never" : "--direct=auto"), options());
      std::this_thread::sleep_for(
          Clock::duration(std::uniform_int_distribution<int64_t>(0, whole.count())(random)));
      const uint32_t how = kWithoutLogFlush;
      ASSERT_EQ(0, ::ioctl(root.get(), kShutdown, &how)) << std::strerror(errno);
      const ProcessResult result = running.wait();
      EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << result.exit_code;
      EXPECT_EQ(result.exit_code == 0, result.err.empty()) << result.err;
    }
    unmount_disk();
    const std::string found = look_at("disk");
    EXPECT_TRUE(found == "old" || found == "new") << found;
  }
}

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(, AiscpPowerTest, testing::Values(kExt4, kXfs, kBtrfs), name_of);
INSTANTIATE_TEST_SUITE_P(, AiscpJournalTest, testing::Values(kExt4, kXfs), name_of);

}  // namespace
}  // namespace hipfile::test
