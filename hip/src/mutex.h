// SPDX-License-Identifier: MIT
//
// A mutex, a lock and a condition variable that clang's thread safety analysis understands.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HIP_PORTABLE_ANNOTATION(x) __attribute__((x))
#else
#define HIP_PORTABLE_ANNOTATION(x)
#endif

#define HIP_PORTABLE_CAPABILITY(x) HIP_PORTABLE_ANNOTATION(capability(x))
#define HIP_PORTABLE_SCOPED_CAPABILITY HIP_PORTABLE_ANNOTATION(scoped_lockable)
#define HIP_PORTABLE_GUARDED_BY(x) HIP_PORTABLE_ANNOTATION(guarded_by(x))
#define HIP_PORTABLE_REQUIRES(...) HIP_PORTABLE_ANNOTATION(requires_capability(__VA_ARGS__))
#define HIP_PORTABLE_EXCLUDES(...) HIP_PORTABLE_ANNOTATION(locks_excluded(__VA_ARGS__))
#define HIP_PORTABLE_ACQUIRE(...) HIP_PORTABLE_ANNOTATION(acquire_capability(__VA_ARGS__))
#define HIP_PORTABLE_RELEASE(...) HIP_PORTABLE_ANNOTATION(release_capability(__VA_ARGS__))

namespace hip_portable {

class HIP_PORTABLE_CAPABILITY("mutex") Mutex {
 public:
  void lock() HIP_PORTABLE_ACQUIRE() { mutex_.lock(); }
  void unlock() HIP_PORTABLE_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class HIP_PORTABLE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HIP_PORTABLE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HIP_PORTABLE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may end for no reason: callers loop.
class CondVar {
 public:
  void wait(Mutex& mutex) HIP_PORTABLE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    held.release();
  }

  // Until `deadline` at most. The system clock, because ThreadSanitizer of g++ 12 does not see
  // waits on the steady one.
  void wait_until(Mutex& mutex, std::chrono::system_clock::time_point deadline)
      HIP_PORTABLE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    condition_.wait_until(held, deadline);
    held.release();
  }

  void notify_all() { condition_.notify_all(); }
  void notify_one() { condition_.notify_one(); }

 private:
  std::condition_variable condition_;
};

}  // namespace hip_portable
