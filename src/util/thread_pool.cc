// SPDX-License-Identifier: MIT
//
// A queue of linked tasks, and the threads that take from it.
#include "util/thread_pool.h"

#include <pthread.h>

#include <algorithm>

#include "util/detached_thread.h"

namespace hipfile {
namespace {
thread_local bool is_worker_thread = false;
}

bool ThreadPool::is_worker() { return is_worker_thread; }

void* ThreadPool::worker(void* self) {
  is_worker_thread = true;
  pthread_setname_np(pthread_self(), "hipfile-io");
  static_cast<ThreadPool*>(self)->work();
  return nullptr;
}

bool ThreadPool::start_thread() { return start_detached_thread(&ThreadPool::worker, this); }

bool ThreadPool::start() {
  {
    MutexLock lock(mutex_);
    if (threads_ != 0) return true;
    ++threads_;
  }
  if (start_thread()) return true;
  MutexLock lock(mutex_);
  --threads_;
  return threads_ != 0;
}

void ThreadPool::append(Task& task) {
  task.next = nullptr;
  task.before = last_;
  task.is_queued = true;
  (last_ == nullptr ? first_ : last_->next) = &task;
  last_ = &task;
  ++queued_;
}

void ThreadPool::unlink(Task& task) {
  (task.before == nullptr ? first_ : task.before->next) = task.next;
  (task.next == nullptr ? last_ : task.next->before) = task.before;
  task.is_queued = false;
  --queued_;
}

Task* ThreadPool::take_first() {
  Task* task = first_;
  if (task != nullptr) unlink(*task);
  return task;
}

bool ThreadPool::take_back(Task& task) {
  MutexLock lock(mutex_);
  if (!task.is_queued) return false;
  unlink(task);
  return true;
}

void ThreadPool::submit(Task& task) {
  bool must_start = false;
  {
    MutexLock lock(mutex_);
    append(task);
    must_start = idle_ < queued_ && threads_ < max_threads_;
    if (must_start) ++threads_;
  }
  arrival_.notify_one();
  if (must_start && !start_thread()) run_stranded();
}

// No thread could be started. Where none is there at all, nobody else will run what is queued: not
// this caller's task, and not that of another caller who failed at the same time.
void ThreadPool::run_stranded() {
  {
    MutexLock lock(mutex_);
    --threads_;
  }
  for (;;) {
    Task* task = nullptr;
    {
      MutexLock lock(mutex_);
      if (threads_ == 0) task = take_first();
    }
    if (task == nullptr) return;
    task->run(task->context);
  }
}

void ThreadPool::limit_threads(unsigned most) {
  {
    MutexLock lock(mutex_);
    max_threads_ = std::max(1u, most);
  }
  arrival_.notify_all();
}

void ThreadPool::work() {
  for (;;) {
    Task* task = nullptr;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (first_ == nullptr && threads_ <= max_threads_) arrival_.wait(mutex_);
      --idle_;
      if (threads_ > max_threads_) {  // those that stay take what is queued
        --threads_;
        if (first_ != nullptr) arrival_.notify_one();
        return;
      }
      task = take_first();
    }
    task->run(task->context);
  }
}

}  // namespace hipfile
