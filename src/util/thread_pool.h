// SPDX-License-Identifier: MIT
//
// Worker threads of the library.
#pragma once

#include <deque>

#include "util/mutex.h"

namespace hipfile {

/// What a worker runs: a plain function and its context, which stays valid until it was run.
struct Task {
  void (*run)(void* context) = nullptr;
  void* context = nullptr;
};

/// Threads are started as work comes, up to a limit, and never joined: the pool is leaked, and at
/// exit threads that sleep are no harm. They block all signals, inherit affinity and policy, and
/// are named "hipfile-io" (rule 32). Tasks run in the order of submission; none may wait for
/// another.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned max_threads) : max_threads_(max_threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Queue a task. If no thread is there and none can be started, the caller runs it.
  void submit(const Task& task) HIPFILE_EXCLUDES(mutex_);
  unsigned max_threads() const { return max_threads_; }

 private:
  static void* worker(void* self);
  void work() HIPFILE_EXCLUDES(mutex_);
  bool start_thread();

  const unsigned max_threads_;
  Mutex mutex_;
  CondVar arrival_;
  std::deque<Task> tasks_ HIPFILE_GUARDED_BY(mutex_);
  unsigned threads_ HIPFILE_GUARDED_BY(mutex_) = 0;
  unsigned idle_ HIPFILE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hipfile
