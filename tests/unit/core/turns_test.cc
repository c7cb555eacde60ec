// SPDX-License-Identifier: MIT
//
// Turns: one task at a time, in order, whoever submits, without holding a thread of the pool that
// others need.
#include "engine/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "support/kept.h"

namespace hipfile {
namespace {

// A task made of a function; tells when it has run.
class Step {
 public:
  explicit Step(std::function<void()> body) : body_(std::move(body)) {}
  Task& task() { return task_; }
  bool has_run() const { return has_run_; }
  void wait() const { has_run_.wait(false); }

 private:
  static void run(void* self) {
    auto* step = static_cast<Step*>(self);
    step->body_();
    step->has_run_ = true;
    step->has_run_.notify_all();
  }
  const std::function<void()> body_;
  std::atomic<bool> has_run_{false};
  Task task_{&Step::run, this};
};

ThreadPool& pool_of(unsigned threads) { return *kept(std::make_unique<ThreadPool>(threads)); }

TEST(Turns, Rule25_OneAtATimeAndEachSubmitterInOrder) {
  const auto turns = std::make_shared<Turns>(pool_of(4));
  std::atomic<int> inside{0};
  std::atomic<bool> was_alone{true};
  std::vector<std::vector<int>> order(4);
  std::vector<std::thread> submitters;
  for (size_t number = 0; number < order.size(); ++number) {
    submitters.emplace_back([&, number] {
      std::vector<std::unique_ptr<Step>> steps;
      for (int turn = 0; turn < 50; ++turn) {
        steps.push_back(std::make_unique<Step>([&, number, turn] {
          if (++inside != 1) was_alone = false;
          order[number].push_back(turn);
          std::this_thread::yield();
          --inside;
        }));
        turns->submit(steps.back()->task());
      }
      for (const auto& step : steps) step->wait();
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  EXPECT_TRUE(was_alone);
  for (const std::vector<int>& turn : order) {
    ASSERT_EQ(turn.size(), 50u);
    EXPECT_TRUE(std::is_sorted(turn.begin(), turn.end()));
  }
}

TEST(Turns, Rule31_ThreadOfThePoolThatWaitsRunsThemItself) {
  ThreadPool& pool = pool_of(1);
  const auto turns = std::make_shared<Turns>(pool);
  Step inner([] {});
  Step outer([&] {
    turns->submit(inner.task());
    EXPECT_TRUE(turns->help());
    EXPECT_TRUE(inner.has_run());
  });
  pool.submit(outer.task());
  outer.wait();
}

// Nobody else would run what a thread outside hands over a moment later.
TEST(Turns, Rule31_ThreadOfAPoolOfOneWaitsForWhatOthersHandOver) {
  ThreadPool& pool = pool_of(1);
  const auto turns = std::make_shared<Turns>(pool);
  constexpr int kRounds = 20000;
  std::thread outside([&] {
    for (int round = 0; round < kRounds; ++round) {
      Step step([] {});
      turns->submit(step.task());
      step.wait();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    Step inner([] {});
    Step outer([&] {
      turns->submit(inner.task());
      while (!inner.has_run() && turns->help()) {
      }
      inner.wait();
    });
    pool.submit(outer.task());
    outer.wait();
  }
  outside.join();
}

TEST(Turns, NothingWaitsNothingIsHelped) {
  const auto turns = std::make_shared<Turns>(pool_of(1));
  EXPECT_FALSE(turns->help());
}

// A task that submits another until the pool has served somebody else.
struct Endless {
  Turns* turns = nullptr;
  std::atomic<bool>* is_served = nullptr;
  std::atomic<bool> has_ended{false};
  Task tasks[2] = {{&Endless::run, this}, {&Endless::run, this}};
  int at = 0;

  static void run(void* context) {
    auto* self = static_cast<Endless*>(context);
    if (*self->is_served) {
      self->has_ended = true;
      self->has_ended.notify_all();
      return;
    }
    self->at = 1 - self->at;
    self->turns->submit(self->tasks[self->at]);
  }
};

TEST(Turns, PoolOfOneThreadServesOthersMeanwhile) {
  ThreadPool& pool = pool_of(1);
  const auto turns = std::make_shared<Turns>(pool);
  std::atomic<bool> is_served{false};
  Endless endless;
  endless.turns = turns.get();
  endless.is_served = &is_served;
  Step other([&] { is_served = true; });
  turns->submit(endless.tasks[0]);
  pool.submit(other.task());
  endless.has_ended.wait(false);
  other.wait();
}

TEST(Turns, MayBeLetGoByTheLastTask) {
  ThreadPool& pool = pool_of(2);
  for (int round = 0; round < 200; ++round) {
    auto turns = std::make_shared<Turns>(pool);
    Step step([] {});
    turns->submit(step.task());
    step.wait();
    turns.reset();
  }
}

TEST(FileTurnsTest, AreOfTheFileAndNotOfWhoAsks) {
  FileTurns files(pool_of(1));
  const std::shared_ptr<Turns> first = files.of(1, 2);
  EXPECT_EQ(first, files.of(1, 2));
  EXPECT_NE(first, files.of(1, 3));
  EXPECT_NE(first, files.of(2, 2));
}

TEST(FileTurnsTest, AreGoneWithTheLastWriter) {
  FileTurns files(pool_of(1));
  const std::weak_ptr<Turns> gone = files.of(1, 2);
  EXPECT_TRUE(gone.expired());
  EXPECT_NE(files.of(1, 2), nullptr);
}

}  // namespace
}  // namespace hipfile
