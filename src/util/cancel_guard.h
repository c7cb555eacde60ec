// SPDX-License-Identifier: MIT
//
// Keeping pthread_cancel() out of our functions. Most of them reach a cancellation point (pread,
// a condition variable) while a lock is held or the kernel or another thread works for the request:
// to unwind there would pull memory away under them.
#pragma once

#include <pthread.h>

namespace hipfile {

/// While it lives, a cancellation of the calling thread waits.
class CancelGuard {
 public:
  CancelGuard() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancelGuard() { (void)pthread_setcancelstate(before_, nullptr); }
  CancelGuard(const CancelGuard&) = delete;
  CancelGuard& operator=(const CancelGuard&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace hipfile
