// SPDX-License-Identifier: MIT
//
// Each operation is a task, of the pool or of the turns of its file; its completion goes into the
// queue it came from.
#include "engine/threads.h"

#include <sched.h>

#include <utility>
#include <vector>

#include "engine/transfer_loop.h"
#include "util/fifo.h"
#include "util/mutex.h"
#include "util/thread_pool.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

struct Job {
  Task task;
  IoOp op;
  IoDone done;
  Job* next = nullptr;
};

// Nothing here allocates once a queue is made: an operation that is counted as in flight must come
// back.
using JobList = Fifo<Job>;

class ThreadsQueue : public IoQueue {
 public:
  ThreadsQueue(ThreadPool& pool, unsigned depth, std::shared_ptr<Turns> turns, bool is_polled)
      : pool_(pool), turns_(std::move(turns)), is_polled_(is_polled), jobs_(depth), links_(depth) {
    for (unsigned at = 0; at < depth; ++at) {
      links_[at] = {this, &jobs_[at]};
      jobs_[at].task = {&ThreadsQueue::run, &links_[at], nullptr};
      free_.push(&jobs_[at]);
    }
  }
  ~ThreadsQueue() override {
    while (in_flight_ != 0) reap();
  }

  void submit(const IoOp& op) override {
    Job* job = free_.pop();
    job->op = op;
    ++in_flight_;
    if (turns_) {
      turns_->submit(job->task);
    } else {
      pool_.submit(job->task);
    }
  }

  IoDone reap() override {
    const WaitMark mark("storage, through threads");
    Job* job = take_completed();
    const IoDone done = job->done;
    free_.push(job);
    --in_flight_;
    return done;
  }

  unsigned depth() const override { return static_cast<unsigned>(jobs_.size()); }

 private:
  struct Link {
    ThreadsQueue* queue = nullptr;
    Job* job = nullptr;
  };

  Job* take_completed() {
    if (ThreadPool::is_worker()) run_own();
    for (;; sched_yield()) {
      MutexLock lock(mutex_);
      while (completed_.is_empty() && !is_polled_) completion_.wait(mutex_);
      if (!completed_.is_empty()) return completed_.pop();
    }
  }

  // The other threads of the pool may all be waiting as this one would.
  void run_own() {
    while (turns_ && !has_completed() && turns_->help()) {
    }
    for (size_t at = 0; at < jobs_.size() && !has_completed(); ++at) {
      if (pool_.take_back(jobs_[at].task)) run(&links_[at]);
    }
  }

  bool has_completed() {
    MutexLock lock(mutex_);
    return !completed_.is_empty();
  }

  static void run(void* context) {
    const auto* link = static_cast<Link*>(context);
    ThreadsQueue* queue = link->queue;
    link->job->done = transfer_fully(link->job->op);
    // Notified under the lock: the owner may destroy the queue as soon as it can take it.
    MutexLock lock(queue->mutex_);
    queue->completed_.push(link->job);
    queue->completion_.notify_one();
  }

  ThreadPool& pool_;
  const std::shared_ptr<Turns> turns_;
  const bool is_polled_;
  std::vector<Job> jobs_;
  std::vector<Link> links_;
  JobList free_;
  unsigned in_flight_ = 0;
  Mutex mutex_;
  CondVar completion_;
  JobList completed_ HIPFILE_GUARDED_BY(mutex_);
};

class ThreadsEngine : public Engine {
 public:
  explicit ThreadsEngine(ThreadPool& pool) : pool_(pool) {}
  const char* name() const override { return "threads"; }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, std::shared_ptr<Turns> turns,
                                      bool is_polled) override {
    return std::make_unique<ThreadsQueue>(pool_, depth, std::move(turns), is_polled);
  }

 private:
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Engine> make_threads_engine(ThreadPool& pool) {
  return std::make_unique<ThreadsEngine>(pool);
}

}  // namespace hipfile
