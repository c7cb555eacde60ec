// SPDX-License-Identifier: MIT
//
// One suite over both engines, and the loop that they share.
#include "engine/engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engine/threads.h"
#include "engine/transfer_loop.h"
#include "engine/uring.h"
#include "support/kept.h"
#include "support/sandbox.h"
#include "util/unique_fd.h"

namespace hipfile {
namespace {

constexpr size_t kSize = 1 << 20;

std::vector<char> pattern(size_t size) {
  std::vector<char> bytes(size);
  for (size_t at = 0; at < size; ++at) bytes[at] = static_cast<char>(at * 7 + at / 251);
  return bytes;
}

UniqueFd temporary_file() {
  char name[] = "/tmp/hipfile-engine-XXXXXX";
  UniqueFd fd(mkstemp(name));
  unlink(name);
  return fd;
}

IoOp op_of(int fd, char* data, size_t size, off_t offset, bool is_write, uint64_t tag = 0) {
  IoOp op;
  op.fd = fd;
  op.data = data;
  op.size = size;
  op.offset = offset;
  op.is_write = is_write;
  op.tag = tag;
  return op;
}

class EngineTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "threads") {
      engine_ = make_threads_engine(pool_);
    } else if (const int error = probe_uring()) {
      GTEST_SKIP() << "io_uring does not work here: errno " << error;
    } else {
      engine_ = make_uring_engine();
    }
  }

  ThreadPool& pool_ = *kept(std::make_unique<ThreadPool>(4));
  UniqueFd file_ = temporary_file();
  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineTest, ManyOperationsComeBackOnceEach) {
  std::vector<char> bytes = pattern(kSize);
  std::vector<char> back(kSize);
  for (const bool is_write : {true, false}) {
    const auto queue = engine_->open_queue(16, nullptr);
    std::vector<int> seen(64);
    size_t next = 0, reaped = 0, in_flight = 0;
    const size_t chunk = kSize / seen.size();
    while (reaped < seen.size()) {
      while (next < seen.size() && in_flight < queue->depth()) {
        char* data = (is_write ? bytes.data() : back.data()) + next * chunk;
        queue->submit(
            op_of(file_.get(), data, chunk, static_cast<off_t>(next * chunk), is_write, next));
        ++next, ++in_flight;
      }
      const IoDone done = queue->reap();
      --in_flight, ++reaped;
      EXPECT_EQ(done.done, chunk);
      EXPECT_EQ(done.error, 0);
      ++seen[done.tag];
    }
    for (const int count : seen) EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(bytes, back);
}

TEST_P(EngineTest, ReadPastTheEndIsShortWithoutAnError) {
  std::vector<char> bytes = pattern(5000);
  ASSERT_EQ(pwrite(file_.get(), bytes.data(), bytes.size(), 0), 5000);
  const auto queue = engine_->open_queue(4, nullptr);
  std::vector<char> back(8192);
  queue->submit(op_of(file_.get(), back.data(), back.size(), 0, false));
  const IoDone done = queue->reap();
  EXPECT_EQ(done.done, 5000u);
  EXPECT_EQ(done.error, 0);
  queue->submit(op_of(file_.get(), back.data(), back.size(), 9000, false));
  EXPECT_EQ(queue->reap().done, 0u);
}

TEST_P(EngineTest, ErrorIsReportedWithWhatWasMoved) {
  const auto queue = engine_->open_queue(4, nullptr);
  char byte = 0;
  queue->submit(op_of(-1, &byte, 1, 0, false, 9));
  const IoDone done = queue->reap();
  EXPECT_EQ(done.tag, 9u);
  EXPECT_EQ(done.done, 0u);
  EXPECT_EQ(done.error, EBADF);
}

TEST_P(EngineTest, QueueThatIsDroppedWaitsForWhatIsInFlight) {
  std::vector<char> bytes = pattern(kSize);
  {
    const auto queue = engine_->open_queue(4, nullptr);
    queue->submit(op_of(file_.get(), bytes.data(), kSize, 0, true));
  }
  EXPECT_EQ(lseek(file_.get(), 0, SEEK_END), static_cast<off_t>(kSize));
}

TEST_P(EngineTest, SerialQueueKeepsTheOrder) {
  std::vector<char> first(kSize, 1), second(kSize, 2);
  const auto queue = engine_->open_queue(8, std::make_shared<Turns>(pool_));
  unsigned in_flight = 0;
  for (std::vector<char>* data : {&first, &second}) {
    if (in_flight == queue->depth()) queue->reap(), --in_flight;
    queue->submit(op_of(file_.get(), data->data(), kSize, 0, true));
    ++in_flight;
  }
  for (; in_flight != 0; --in_flight) EXPECT_EQ(queue->reap().done, kSize);
  std::vector<char> back(kSize);
  ASSERT_EQ(pread(file_.get(), back.data(), kSize, 0), static_cast<ssize_t>(kSize));
  EXPECT_EQ(back, second);
}

TEST_P(EngineTest, ThreadsEachHaveTheirQueue) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      std::vector<char> bytes(65536, static_cast<char>(number + 1)), back(65536);
      const off_t offset = number * 65536;
      const auto queue = engine_->open_queue(2, nullptr);
      queue->submit(op_of(file_.get(), bytes.data(), bytes.size(), offset, true));
      EXPECT_EQ(queue->reap().done, bytes.size());
      queue->submit(op_of(file_.get(), back.data(), back.size(), offset, false));
      EXPECT_EQ(queue->reap().done, back.size());
      EXPECT_EQ(bytes, back);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest, ::testing::Values("uring", "threads"),
                         [](const auto& instance) { return instance.param; });

// The number of this thread's ring, -1 if there is none.
int ring_number() {
  for (int fd = 3; fd < 1024; ++fd) {
    char target[64] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(path.c_str(), target, sizeof(target) - 1) <= 0) continue;
    if (std::string(target) == "anon_inode:[io_uring]") return fd;
  }
  return -1;
}

size_t read_by(Engine& engine, int fd) {
  char bytes[4096];
  const auto queue = engine.open_queue(2, nullptr);
  queue->submit(op_of(fd, bytes, sizeof(bytes), 0, false));
  return queue->reap().done;
}

TEST(UringForkTest, Rule24_ChildOfForkMakesARingOfItsOwn) {
  if (probe_uring() != 0) GTEST_SKIP() << "io_uring does not work here";
  const UniqueFd file = temporary_file();
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  const std::unique_ptr<Engine> engine = make_uring_engine();
  ASSERT_EQ(read_by(*engine, file.get()), 4096u);
  const int ring = ring_number();
  ASSERT_GE(ring, 0);
  const pid_t child = fork();
  if (child == 0) {
    // A call on the parent's ring ends the child.
    const bool is_watched = test::refuse_calls(
        {{SYS_io_uring_enter, test::Refusal::kKills, 0, static_cast<uint32_t>(ring)}});
    _exit(is_watched && read_by(*engine, file.get()) == 4096 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_by(*engine, file.get()), 4096u);
}

TEST(TransferLoop, InterruptedAndShortTransfersGoOn) {
  const IoOp op = op_of(0, nullptr, 100, 0, false);
  IoDone state;
  EXPECT_EQ(account(op, -EINTR, &state), NextStep::kContinue);
  EXPECT_EQ(account(op, 40, &state), NextStep::kContinue);
  EXPECT_EQ(rest_of(op, state.done).size, 60u);
  EXPECT_EQ(account(op, 60, &state), NextStep::kFinished);
  EXPECT_EQ(state.done, 100u);
}

TEST(TransferLoop, ZeroEndsAReadAndFailsAWrite) {
  IoDone read_state, write_state;
  EXPECT_EQ(account(op_of(0, nullptr, 10, 0, false), 0, &read_state), NextStep::kFinished);
  EXPECT_EQ(read_state.error, 0);
  EXPECT_EQ(account(op_of(0, nullptr, 10, 0, true), 0, &write_state), NextStep::kFinished);
  EXPECT_EQ(write_state.error, EIO);
}

TEST(TransferLoop, ErrorAfterProgressKeepsTheCount) {
  const IoOp op = op_of(0, nullptr, 100, 0, true);
  IoDone state;
  account(op, 30, &state);
  EXPECT_EQ(account(op, -ENOSPC, &state), NextStep::kFinished);
  EXPECT_EQ(state.done, 30u);
  EXPECT_EQ(state.error, ENOSPC);
}

class ChoiceTest : public ::testing::Test {
 protected:
  ~ChoiceTest() override { unsetenv("HIPFILE_ENGINE"); }
};

TEST_F(ChoiceTest, ThreadsCanBeForced) {
  setenv("HIPFILE_ENGINE", "threads", 1);
  const EngineChoice& choice = kept(choose_engines());
  EXPECT_EQ(std::string(choice.direct().name()), "threads");
  EXPECT_NE(choice.reason.find("HIPFILE_ENGINE"), std::string::npos);
}

TEST_F(ChoiceTest, ForcedUringServesTheCacheToo) {
  if (probe_uring() != 0) GTEST_SKIP() << "io_uring does not work here";
  setenv("HIPFILE_ENGINE", "uring", 1);
  const EngineChoice& choice = kept(choose_engines());
  EXPECT_EQ(std::string(choice.direct().name()), "uring");
  EXPECT_EQ(std::string(choice.buffered().name()), "uring");
}

TEST_F(ChoiceTest, CachedRangesGoToThreadsByDefault) {
  const EngineChoice& choice = kept(choose_engines());
  EXPECT_EQ(std::string(choice.buffered().name()), "threads");
  EXPECT_FALSE(choice.reason.empty());
}

}  // namespace
}  // namespace hipfile
