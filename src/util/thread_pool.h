// SPDX-License-Identifier: MIT
//
// Worker threads of the library.
#pragma once

#include "util/mutex.h"

namespace hipfile {

/// What a worker runs: a plain function and its context. The owner keeps it until it runs; it is a
/// link of the queue meanwhile, so that handing work over never allocates and cannot fail.
struct Task {
  void (*run)(void* context) = nullptr;
  void* context = nullptr;
  Task* next = nullptr;  // this and what follows: the pool's
  Task* before = nullptr;
  bool is_queued = false;
};

/// Threads are started as work comes, up to a limit, and never joined: the pool is leaked, and at
/// exit threads that sleep are no harm. They block all signals, inherit affinity and policy, and
/// are named "hipfile-io" (rule 32). Tasks run in the order of submission; none may wait for
/// another, but for those that it submitted itself (rule 31): it takes those back and runs them.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned max_threads) : max_threads_(max_threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Start the first thread, so that no later submit() runs its task on the calling thread. False
  /// if none can be started.
  bool start() HIPFILE_EXCLUDES(mutex_);
  /// Queue a task. If no thread is there and none can be started, the caller runs it.
  void submit(Task& task) HIPFILE_EXCLUDES(mutex_);
  /// Take back a task that has not begun. False if it runs or ran.
  bool take_back(Task& task) HIPFILE_EXCLUDES(mutex_);
  /// True on a thread of a pool.
  static bool is_worker();
  /// From now on at most `most` threads, at least 1. Those above it end when they are idle.
  void limit_threads(unsigned most) HIPFILE_EXCLUDES(mutex_);

 private:
  static void* worker(void* self);
  void work() HIPFILE_EXCLUDES(mutex_);
  bool start_thread();
  void run_stranded() HIPFILE_EXCLUDES(mutex_);
  void append(Task& task) HIPFILE_REQUIRES(mutex_);
  void unlink(Task& task) HIPFILE_REQUIRES(mutex_);
  Task* take_first() HIPFILE_REQUIRES(mutex_);

  Mutex mutex_;
  unsigned max_threads_ HIPFILE_GUARDED_BY(mutex_);
  CondVar arrival_;
  Task* first_ HIPFILE_GUARDED_BY(mutex_) = nullptr;
  Task* last_ HIPFILE_GUARDED_BY(mutex_) = nullptr;
  unsigned queued_ HIPFILE_GUARDED_BY(mutex_) = 0;
  unsigned threads_ HIPFILE_GUARDED_BY(mutex_) = 0;
  unsigned idle_ HIPFILE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hipfile
