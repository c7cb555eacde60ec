// SPDX-License-Identifier: MIT
//
// The pool's threads, and what io_uring does when things are not as they should be.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/threads.h"
#include "engine/transfer_loop.h"
#include "engine/uring.h"
#include "support/kept.h"
#include "temp_dir.h"
#include "util/cpu_limits.h"
#include "util/thread_pool.h"

namespace hipfile {
namespace {

ThreadPool& new_pool(unsigned threads) { return *kept(std::make_unique<ThreadPool>(threads)); }

void wait_for(const std::atomic<int>& count, int wanted) {
  for (int tries = 0; count.load() < wanted && tries < 20000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(count.load(), wanted);
}

struct Numbered {
  Task task;
  int number = 0;
  std::vector<int>* order = nullptr;
  std::atomic<int>* count = nullptr;
};

size_t threads_named_io() {
  size_t number = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    number += name == "hipfile-io" ? 1 : 0;
  }
  return number;
}

// Tasks that meet: all of them run at once, or the test never ends.
TEST(ThreadPool, LoweredLimitEndsThreadsAndKeepsEveryTask) {
  const size_t before = threads_named_io();
  ThreadPool& pool = new_pool(4);
  std::atomic<int> count{0};
  std::vector<Numbered> tasks(4);
  for (Numbered& one : tasks) {
    one.count = &count;
    one.task.context = &one;
    one.task.run = [](void* context) {
      std::atomic<int>& all = *static_cast<Numbered*>(context)->count;
      all.fetch_add(1);
      while (all.load() < 4) std::this_thread::yield();
    };
    pool.submit(one.task);
  }
  wait_for(count, 4);
  pool.limit_threads(1);
  for (int tries = 0; threads_named_io() > before + 1 && tries < 5000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(threads_named_io(), before + 1);
  count = 0;
  std::vector<Numbered> more(50);
  for (Numbered& one : more) {
    one.count = &count;
    one.task.context = &one;
    one.task.run = [](void* context) { static_cast<Numbered*>(context)->count->fetch_add(1); };
    pool.submit(one.task);
  }
  wait_for(count, 50);
  EXPECT_EQ(threads_named_io(), before + 1);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  ThreadPool& pool = new_pool(1);
  std::vector<int> order;
  std::atomic<int> count{0};
  std::vector<Numbered> tasks(100);
  for (int number = 0; number < 100; ++number) {
    Numbered& one = tasks[static_cast<size_t>(number)];
    one.number = number;
    one.order = &order;
    one.count = &count;
    one.task.context = &one;
    one.task.run = [](void* context) {
      auto* self = static_cast<Numbered*>(context);
      self->order->push_back(self->number);
      self->count->fetch_add(1);
    };
    pool.submit(one.task);
  }
  wait_for(count, 100);
  for (size_t at = 0; at < 100; ++at) EXPECT_EQ(order[at], static_cast<int>(at));
}

TEST(ThreadPool, Rule32_ThreadsAreNamedAndTakeNoSignals) {
  struct Seen {
    std::atomic<int> count{0};
    std::string name;
    bool is_blocked = false;
  } seen;
  Task task;
  task.context = &seen;
  task.run = [](void* context) {
    auto* self = static_cast<Seen*>(context);
    char name[32] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    self->name = name;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    self->is_blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGUSR1) == 1;
    self->count.fetch_add(1);
  };
  new_pool(2).submit(task);
  wait_for(seen.count, 1);
  EXPECT_EQ(seen.name, "hipfile-io");
  EXPECT_TRUE(seen.is_blocked);
}

// Runs `body` on a thread that may use one processor only. Returns its number, or -1.
template <typename Body>
int on_one_processor(Body body) {
  int chosen = -1;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE && chosen < 0; ++cpu) {
      if (CPU_ISSET(cpu, &set)) chosen = cpu;
    }
    CPU_ZERO(&set);
    CPU_SET(chosen, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) chosen = -1;
    body();
  }).join();
  return chosen;
}

TEST(ThreadPool, Rule32_ThreadsInheritTheAffinity) {
  struct Seen {
    std::atomic<int> count{0};
    cpu_set_t set;
  } seen;
  Task task;
  task.context = &seen;
  task.run = [](void* context) {
    auto* self = static_cast<Seen*>(context);
    CPU_ZERO(&self->set);
    sched_getaffinity(0, sizeof self->set, &self->set);
    self->count.fetch_add(1);
  };
  const int cpu = on_one_processor([&] { new_pool(1).submit(task); });
  wait_for(seen.count, 1);
  EXPECT_EQ(CPU_COUNT(&seen.set), 1);
  EXPECT_TRUE(CPU_ISSET(cpu, &seen.set));
}

TEST(ThreadPool, Rule32_AffinityBoundsTheirNumber) {
  unsigned count = 0;
  on_one_processor([&] { count = usable_cpus(); });
  EXPECT_EQ(count, 1u);
  EXPECT_GE(usable_cpus(), 1u);
}

TEST(ThreadPool, Rule32_NoMoreThreadsThanTheLimitRunAtOnce) {
  struct Shared {
    std::atomic<int> running{0}, most{0}, count{0};
  } shared;
  ThreadPool& pool = new_pool(3);
  std::vector<Task> tasks(60);
  for (Task& task : tasks) {
    task.context = &shared;
    task.run = [](void* context) {
      auto* self = static_cast<Shared*>(context);
      const int now = self->running.fetch_add(1) + 1;
      int most = self->most.load();
      while (now > most && !self->most.compare_exchange_weak(most, now)) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      self->running.fetch_sub(1);
      self->count.fetch_add(1);
    };
    pool.submit(task);
  }
  wait_for(shared.count, 60);
  EXPECT_LE(shared.most.load(), 3);
  EXPECT_GE(shared.most.load(), 2);
}

// One core, many requests: no task waits for another, so one thread serves them all.
TEST(ThreadsEngine, Rule31_OneThreadServesManyRequests) {
  const test::TempDir folder;
  test::write_file(folder.file("data"), std::vector<uint8_t>(65536, 7));
  const test::Fd file(folder.file("data"), O_RDONLY);
  ThreadPool& pool = *kept(std::make_unique<ThreadPool>(1));
  Engine& engine = *kept(make_threads_engine(pool));
  const auto turns = std::make_shared<Turns>(pool);
  std::atomic<int> reaped{0};
  std::vector<std::thread> requests;
  for (int number = 0; number < 8; ++number) {
    requests.emplace_back([&, number] {
      std::vector<char> data(65536);
      const auto queue = engine.open_queue(16, number % 2 == 1 ? turns : nullptr);
      for (uint64_t tag = 0; tag < 16; ++tag) {
        IoOp op;
        op.fd = file.get();
        op.data = data.data() + tag * 4096;
        op.size = 4096;
        op.offset = static_cast<off_t>(tag * 4096);
        op.tag = tag;
        queue->submit(op);
      }
      for (int turn = 0; turn < 16; ++turn) reaped += queue->reap().done == 4096 ? 1 : 0;
    });
  }
  for (std::thread& request : requests) request.join();
  EXPECT_EQ(reaped, 8 * 16);
}

// A task of the pool that reads through the pool: all threads of it would wait for each other.
TEST(ThreadsEngine, Rule31_PoolThreadThatWaitsRunsItsOwnSubTasks) {
  const test::TempDir folder;
  test::write_file(folder.file("data"), std::vector<uint8_t>(65536, 7));
  const test::Fd file(folder.file("data"), O_RDONLY);
  ThreadPool& pool = *kept(std::make_unique<ThreadPool>(1));
  struct Outer {
    Engine& engine;
    int fd;
    std::atomic<int> reaped{0};
    Task task;
  } outer{*kept(make_threads_engine(pool)), file.get(), {}, {}};
  outer.task.context = &outer;
  outer.task.run = [](void* context) {
    auto* self = static_cast<Outer*>(context);
    std::vector<char> data(65536);
    const auto queue = self->engine.open_queue(4, nullptr);
    for (uint64_t tag = 0; tag < 4; ++tag) {
      IoOp op;
      op.fd = self->fd;
      op.data = data.data() + tag * 4096;
      op.size = 4096;
      op.tag = tag;
      queue->submit(op);
    }
    for (int turn = 0; turn < 4; ++turn) self->reaped += queue->reap().done == 4096 ? 1 : 0;
  };
  pool.submit(outer.task);
  wait_for(outer.reaped, 4);
  EXPECT_EQ(outer.reaped, 4);
}

TEST(TransferLoop, FileThatIsAlwaysBusyEndsWithItsError) {
  IoOp op;
  op.size = 10;
  IoDone state;
  EXPECT_EQ(account(op, -EAGAIN, &state), NextStep::kFinished);
  EXPECT_EQ(state.error, EAGAIN);
}

class UringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (probe_uring() != 0) GTEST_SKIP() << "io_uring does not work here";
    test::write_file(path_, std::vector<uint8_t>(8192, 7));
    file_ = test::Fd(path_, O_RDWR);
  }
  IoOp read_of(char* data, uint64_t tag) const {
    IoOp op;
    op.fd = file_.get();
    op.data = data;
    op.size = 4096;
    op.tag = tag;
    return op;
  }

  const test::TempDir folder_;
  const std::string path_ = folder_.file("data");
  test::Fd file_;
  const std::unique_ptr<Engine> engine_ = make_uring_engine();
};

TEST_F(UringTest, SecondQueueOfAThreadDoesNotReapForTheFirst) {
  char first_data[4096] = {}, second_data[4096] = {};
  const auto first = engine_->open_queue(4, nullptr);
  first->submit(read_of(first_data, 1));
  const auto second = engine_->open_queue(4, nullptr);
  second->submit(read_of(second_data, 2));
  EXPECT_EQ(second->reap().tag, 2u);
  EXPECT_EQ(first->reap().tag, 1u);
  EXPECT_EQ(first_data[4095], 7);
  EXPECT_EQ(second_data[4095], 7);
}

// Daemons close every descriptor that they find.
TEST_F(UringTest, RingWhoseDescriptorWasClosedIsReplacedByPlainCalls) {
  std::thread([this] {
    char data[4096] = {};
    { const auto queue = engine_->open_queue(4, nullptr); }  // makes the ring
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
      if (target.find("io_uring") == std::string::npos) continue;
      close(std::stoi(entry.path().filename().string()));
    }
    const auto queue = engine_->open_queue(4, nullptr);
    for (uint64_t tag = 0; tag < 200; ++tag) {
      data[0] = 0;
      queue->submit(read_of(data, tag));
      const IoDone done = queue->reap();
      EXPECT_EQ(done.tag, tag);
      EXPECT_EQ(done.done, 4096u);
      EXPECT_EQ(data[0], 7);
    }
  }).join();
}

}  // namespace
}  // namespace hipfile
