// SPDX-License-Identifier: MIT
//
// Each operation is a task; its completion goes into the queue it came from. A serial queue keeps
// its operations back until the one before has ended.
#include "engine/threads.h"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "engine/transfer_loop.h"
#include "util/cpu_limits.h"
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

// First in, first out. Jobs are linked: nothing here allocates once a queue is made, since an
// operation that is counted as in flight must come back.
class JobList {
 public:
  bool is_empty() const { return first_ == nullptr; }
  void push(Job* job) {
    job->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = job;
    last_ = job;
  }
  Job* pop() {
    Job* job = first_;
    first_ = job->next;
    if (first_ == nullptr) last_ = nullptr;
    return job;
  }

 private:
  Job* first_ = nullptr;
  Job* last_ = nullptr;
};

class ThreadsQueue : public IoQueue {
 public:
  ThreadsQueue(ThreadPool& pool, unsigned depth, bool is_serial, bool is_polled)
      : pool_(pool), is_serial_(is_serial), is_polled_(is_polled), jobs_(depth), links_(depth) {
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
    if (is_serial_ && is_running_) {
      waiting_.push(job);
    } else {
      start(job);
    }
  }

  IoDone reap() override {
    const WaitMark mark("storage, through threads");
    Job* job = take_completed();
    const IoDone done = job->done;
    free_.push(job);
    --in_flight_;
    is_running_ = false;
    if (is_serial_ && !waiting_.is_empty()) start(waiting_.pop());
    return done;
  }

  unsigned depth() const override { return static_cast<unsigned>(jobs_.size()); }

 private:
  struct Link {
    ThreadsQueue* queue = nullptr;
    Job* job = nullptr;
  };

  Job* take_completed() {
    for (;; sched_yield()) {
      MutexLock lock(mutex_);
      while (completed_.is_empty() && !is_polled_) completion_.wait(mutex_);
      if (!completed_.is_empty()) return completed_.pop();
    }
  }

  void start(Job* job) {
    is_running_ = true;
    pool_.submit(job->task);
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
  const bool is_serial_;
  const bool is_polled_;
  std::vector<Job> jobs_;
  std::vector<Link> links_;
  JobList free_;
  JobList waiting_;          // of a serial queue
  bool is_running_ = false;  // of a serial queue
  unsigned in_flight_ = 0;
  Mutex mutex_;
  CondVar completion_;
  JobList completed_ HIPFILE_GUARDED_BY(mutex_);
};

class ThreadsEngine : public Engine {
 public:
  explicit ThreadsEngine(unsigned max_threads)
      : max_threads_(max_threads), pool_(*new ThreadPool(max_threads)) {}
  const char* name() const override { return "threads"; }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, bool is_serial, bool is_polled) override {
    return std::make_unique<ThreadsQueue>(pool_, depth, is_serial, is_polled);
  }
  void limit_threads(unsigned most) override {
    pool_.limit_threads(most == 0 ? max_threads_ : std::min(most, usable_cpus()));
  }

 private:
  const unsigned max_threads_;
  ThreadPool& pool_;  // leaked: its threads are never joined
};

}  // namespace

std::unique_ptr<Engine> make_threads_engine(unsigned max_threads) {
  return std::make_unique<ThreadsEngine>(max_threads);
}

}  // namespace hipfile
