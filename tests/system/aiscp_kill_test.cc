// SPDX-License-Identifier: MIT
// Copies that are ended at a random moment of their run, by SIGKILL and by the signals that the
// tool takes: a name has the old file or the new one, whole, and never a part of one. What SIGKILL
// may leave are files named .aiscp-XXXXXXXX; the next run succeeds in spite of them.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <thread>

#include "aiscp_fixture.h"
#include "random_run.h"

namespace hipfile::test {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;
using Names = std::set<std::string>;

constexpr size_t kMiB = 1 << 20;

/// Sources, whether names they are copied to are taken, and options.
struct Copy {
  const char* name;
  std::vector<size_t> sizes;
  bool is_replacing;
  std::vector<std::string> options;
};

const Copy kCopies[] = {
    {"a block, new", {4097}, false, {}},
    {"a block, replaced", {4097}, true, {}},
    {"1 MiB, new", {kMiB + 1}, false, {}},
    {"1 MiB, replaced", {kMiB + 1}, true, {"--chunk-size=64K"}},
    {"24 MiB, new", {24 * kMiB + 5}, false, {"--chunk-size=1M"}},
    {"24 MiB, replaced", {24 * kMiB + 5}, true, {}},
    {"buffered, replaced", {8 * kMiB + 3}, true, {"--direct=never"}},
    {"flushed, replaced", {2 * kMiB}, true, {"--fsync"}},
    {"many, new", {100, 70000, 3 * kMiB + 9, 0, kMiB, 1}, false, {"--chunk-size=256K"}},
    {"many, replaced", {100, 70000, 3 * kMiB + 9, 0, kMiB, 1}, true, {"--chunk-size=256K"}},
};

bool is_hidden(const std::string& name) { return name.starts_with(".aiscp-"); }

class AiscpKillTest : public AiscpTest {
 protected:
  void SetUp() override { ASSERT_EQ(0, ::mkdir(at("d").c_str(), 0755)); }

  void prepare(const Copy& copy) {
    copy_ = &copy;
    arguments_ = {"env", "--default-signal=INT,TERM,HUP", AISCP_BINARY};
    arguments_.insert(arguments_.end(), copy.options.begin(), copy.options.end());
    old_.clear();
    new_.clear();
    for (size_t i = 0; i < copy.sizes.size(); ++i) {
      new_.push_back(make_pattern(copy.sizes[i], 2 * i + 1));
      old_.push_back(make_pattern(copy.sizes[i] / 2 + 7, 2 * i + 2));
      write_file(at(name_of(i)), new_[i]);
      arguments_.push_back(name_of(i));
    }
    arguments_.push_back("d");
    clear();
    std::vector<Clock::duration> runs;
    for (int run = 0; run < 3; ++run) {
      const Clock::time_point begin = Clock::now();
      expect_silent_success(RunningProcess(arguments_, options()).wait());
      runs.push_back(Clock::now() - begin);
    }
    std::sort(runs.begin(), runs.end());
    whole_run_ = std::chrono::duration_cast<std::chrono::microseconds>(runs[1]);
  }

  static std::string name_of(size_t i) { return "s" + std::to_string(i); }
  std::string target(size_t i) const { return "d/" + name_of(i); }

  /// What is there before a copy.
  void clear() {
    for (const std::string& name : names("d")) ::unlink(at("d/" + name).c_str());
    if (!copy_->is_replacing) return;
    for (size_t i = 0; i < old_.size(); ++i) write_file(at(target(i)), old_[i]);
  }

  /// Sends a signal at a random moment of a copy. `took` is from there to its end.
  ProcessResult copy_and_send(int signal, std::mt19937_64& random, Clock::duration* took) {
    RunningProcess running(arguments_, options());
    const int64_t most = whole_run_.count() * 11 / 10;
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, most)(random)));
    const Clock::time_point begin = Clock::now();
    running.send(signal);
    ProcessResult result = running.wait();
    *took = Clock::now() - begin;
    return result;
  }

  /// Every name has the old file or the new one. Returns the hidden names.
  Names look() {
    Names hidden;
    for (const std::string& name : names("d")) {
      if (is_hidden(name)) {
        EXPECT_EQ(std::string(".aiscp-XXXXXXXX").size(), name.size()) << name;
        hidden.insert(name);
      }
    }
    for (size_t i = 0; i < new_.size(); ++i) {
      if (::access(at(target(i)).c_str(), F_OK) != 0) {
        EXPECT_FALSE(copy_->is_replacing) << name_of(i) << ": the old file is gone";
        continue;
      }
      const Bytes found = read_file(at(target(i)));
      if (found == new_[i]) continue;
      const bool is_old = copy_->is_replacing && found == old_[i];
      EXPECT_TRUE(is_old) << name_of(i) << " has " << found.size()
                          << " bytes; against the new: " << first_difference(found, new_[i]);
    }
    return hidden;
  }

  void expect_next_run_succeeds(const Names& left) {
    expect_silent_success(RunningProcess(arguments_, options()).wait());
    for (size_t i = 0; i < new_.size(); ++i) {
      EXPECT_EQ("", first_difference(read_file(at(target(i))), new_[i])) << name_of(i);
    }
    EXPECT_EQ(left, look()) << "the next run left something";
  }

  const Copy* copy_ = nullptr;
  std::vector<std::string> arguments_;
  std::vector<Bytes> old_, new_;
  std::chrono::microseconds whole_run_{0};
};

TEST_F(AiscpKillTest, KilledCopyLeavesTheOldFileOrTheNewOneAndTheNextRunSucceeds) {
  const size_t count = random_run_count(100);
  std::mt19937_64 random = random_run_generator();
  size_t copies = 0, killed = 0, with_rest = 0;
  for (size_t c = 0; c < std::size(kCopies) && !HasFailure(); ++c) {
    SCOPED_TRACE(kCopies[c].name);
    prepare(kCopies[c]);
    const size_t enough = count * (c + 1) / std::size(kCopies);
    while (killed < enough && copies < 8 * count && !HasFailure()) {
      SCOPED_TRACE(++copies);
      clear();
      Clock::duration took{};
      const ProcessResult result = copy_and_send(SIGKILL, random, &took);
      if (result.signal == SIGKILL) ++killed;
      EXPECT_EQ("", result.err);
      const Names left = look();
      if (!left.empty()) ++with_rest;
      expect_next_run_succeeds(left);
    }
  }
  std::printf("%zu copies: %zu killed, %zu of them left a hidden file\n", copies, killed,
              with_rest);
  EXPECT_EQ(count, killed) << "the moments miss the copies";
}

TEST_F(AiscpKillTest, SignalledCopyIsGoneAtOnceAndLeavesNothing) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  const size_t count = random_run_count(60);
  std::mt19937_64 random = random_run_generator();
  size_t copies = 0, ended = 0;
  for (size_t c = 0; c < std::size(kCopies) && !HasFailure(); ++c) {
    SCOPED_TRACE(kCopies[c].name);
    prepare(kCopies[c]);
    const size_t enough = count * (c + 1) / std::size(kCopies);
    while (ended < enough && copies < 8 * count && !HasFailure()) {
      SCOPED_TRACE(++copies);
      clear();
      const int signal = kSignals[random() % std::size(kSignals)];
      Clock::duration took{};
      const ProcessResult result = copy_and_send(signal, random, &took);
      if (result.exit_code != 0) {
        EXPECT_EQ(signal, result.signal) << result.exit_code;
        ++ended;
      }
      EXPECT_EQ("", result.err);
      EXPECT_LT(took, std::chrono::seconds(30)) << "it hangs";
      EXPECT_EQ(Names(), look());
    }
  }
  std::printf("%zu copies: %zu ended by the signal\n", copies, ended);
  EXPECT_EQ(count, ended) << "the moments miss the copies";
}

}  // namespace
}  // namespace hipfile::test
