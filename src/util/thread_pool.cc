// SPDX-License-Identifier: MIT
//
// Threads by pthread, since the signal mask must be set before one starts.
#include "util/thread_pool.h"

#include <pthread.h>
#include <signal.h>

namespace hipfile {

void* ThreadPool::worker(void* self) {
  pthread_setname_np(pthread_self(), "hipfile-io");
  static_cast<ThreadPool*>(self)->work();
  return nullptr;
}

bool ThreadPool::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, &ThreadPool::worker, this);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

void ThreadPool::submit(const Task& task) {
  bool must_start = false;
  {
    MutexLock lock(mutex_);
    tasks_.push_back(task);
    must_start = idle_ < tasks_.size() && threads_ < max_threads_;
    if (must_start) ++threads_;
  }
  arrival_.notify_one();
  if (!must_start || start_thread()) return;
  Task stranded;
  {
    MutexLock lock(mutex_);
    --threads_;
    if (threads_ != 0 || tasks_.empty()) return;
    stranded = tasks_.front();
    tasks_.pop_front();
  }
  stranded.run(stranded.context);
}

void ThreadPool::work() {
  for (;;) {
    Task task;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (tasks_.empty()) arrival_.wait(mutex_);
      --idle_;
      task = tasks_.front();
      tasks_.pop_front();
    }
    task.run(task.context);
  }
}

}  // namespace hipfile
