// SPDX-License-Identifier: MIT
//
// A mutex that clang's -Wthread-safety understands. std::mutex of libstdc++ bears no annotations.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HIPFILE_ANNOTATION(x) __attribute__((x))
#else
#define HIPFILE_ANNOTATION(x)
#endif
#define HIPFILE_CAPABILITY(x) HIPFILE_ANNOTATION(capability(x))
#define HIPFILE_SCOPED_CAPABILITY HIPFILE_ANNOTATION(scoped_lockable)
#define HIPFILE_GUARDED_BY(x) HIPFILE_ANNOTATION(guarded_by(x))
#define HIPFILE_REQUIRES(...) HIPFILE_ANNOTATION(requires_capability(__VA_ARGS__))
#define HIPFILE_EXCLUDES(...) HIPFILE_ANNOTATION(locks_excluded(__VA_ARGS__))
#define HIPFILE_ACQUIRE(...) HIPFILE_ANNOTATION(acquire_capability(__VA_ARGS__))
#define HIPFILE_RELEASE(...) HIPFILE_ANNOTATION(release_capability(__VA_ARGS__))
#define HIPFILE_NO_ANALYSIS HIPFILE_ANNOTATION(no_thread_safety_analysis)

namespace hipfile {

class HIPFILE_CAPABILITY("mutex") Mutex {
 public:
  void lock() HIPFILE_ACQUIRE() { mutex_.lock(); }
  void unlock() HIPFILE_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class HIPFILE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HIPFILE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HIPFILE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits give the mutex back while asleep. Spurious wake-ups happen: wait in a loop.
class CondVar {
 public:
  void wait(Mutex& mutex) HIPFILE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    (void)lock.release();
  }
  /// False when the time ran out.
  bool wait_for(Mutex& mutex, std::chrono::milliseconds time) HIPFILE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool is_notified = condition_.wait_for(lock, time) == std::cv_status::no_timeout;
    (void)lock.release();
    return is_notified;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace hipfile
