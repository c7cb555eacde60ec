// SPDX-License-Identifier: MIT
//
// By pthread, since the signal mask must be set before the thread starts.
#include "util/detached_thread.h"

#include <pthread.h>
#include <signal.h>

namespace hipfile {

bool start_detached_thread(void* (*body)(void*), void* context) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool is_started = pthread_create(&thread, &attributes, body, context) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

}  // namespace hipfile
