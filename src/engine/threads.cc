// SPDX-License-Identifier: MIT
//
// Each operation is a task; its completion goes into the queue it came from. A serial queue keeps
// its operations back until the one before has ended.
#include "engine/threads.h"

#include <deque>
#include <vector>

#include "engine/transfer_loop.h"
#include "util/mutex.h"
#include "util/thread_pool.h"

namespace hipfile {
namespace {

class ThreadsQueue : public IoQueue {
 public:
  ThreadsQueue(ThreadPool& pool, unsigned depth, bool is_serial)
      : pool_(pool), is_serial_(is_serial), jobs_(depth) {
    for (Job& job : jobs_) {
      job.queue = this;
      free_.push_back(&job);
    }
  }
  ~ThreadsQueue() override {
    while (in_flight_ != 0) reap();
  }

  void submit(const IoOp& op) override {
    Job* job = free_.back();
    free_.pop_back();
    job->op = op;
    ++in_flight_;
    if (is_serial_ && is_running_) {
      waiting_.push_back(job);
    } else {
      start(job);
    }
  }

  IoDone reap() override {
    Job* job = nullptr;
    {
      MutexLock lock(mutex_);
      while (completed_.empty()) completion_.wait(mutex_);
      job = completed_.front();
      completed_.pop_front();
    }
    free_.push_back(job);
    --in_flight_;
    is_running_ = false;
    if (is_serial_ && !waiting_.empty()) {
      Job* next = waiting_.front();
      waiting_.pop_front();
      start(next);
    }
    return job->done;
  }

  unsigned depth() const override { return static_cast<unsigned>(jobs_.size()); }

 private:
  struct Job {
    ThreadsQueue* queue = nullptr;
    IoOp op;
    IoDone done;
  };

  void start(Job* job) {
    is_running_ = true;
    pool_.submit({&ThreadsQueue::run, job});
  }

  static void run(void* context) {
    auto* job = static_cast<Job*>(context);
    ThreadsQueue* queue = job->queue;
    job->done = transfer_fully(job->op);
    // Notified under the lock: the owner may destroy the queue as soon as it can take it.
    MutexLock lock(queue->mutex_);
    queue->completed_.push_back(job);
    queue->completion_.notify_one();
  }

  ThreadPool& pool_;
  const bool is_serial_;
  std::vector<Job> jobs_;
  std::vector<Job*> free_;
  std::deque<Job*> waiting_;  // of a serial queue
  bool is_running_ = false;   // of a serial queue
  unsigned in_flight_ = 0;
  Mutex mutex_;
  CondVar completion_;
  std::deque<Job*> completed_ HIPFILE_GUARDED_BY(mutex_);
};

class ThreadsEngine : public Engine {
 public:
  explicit ThreadsEngine(unsigned max_threads) : pool_(*new ThreadPool(max_threads)) {}
  const char* name() const override { return "threads"; }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, bool is_serial) override {
    return std::make_unique<ThreadsQueue>(pool_, depth, is_serial);
  }

 private:
  ThreadPool& pool_;  // leaked: its threads are never joined
};

}  // namespace

std::unique_ptr<Engine> make_threads_engine(unsigned max_threads) {
  return std::make_unique<ThreadsEngine>(max_threads);
}

}  // namespace hipfile
