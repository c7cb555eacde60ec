// SPDX-License-Identifier: MIT
//
// Handlers are installed without SA_RESTART: a system call that waits gives EINTR and its caller
// looks at is_stopping().
#include "signals.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace aiscp {
namespace {

constexpr int kWatched[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

void restore_default(int number) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
}

void on_signal(int number) {
  int none = 0;
  if (stop_signal.compare_exchange_strong(none, number)) return;
  restore_default(number);
  ::raise(number);  // delivered when this handler returns
}

void ignore(int number) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void watch_signals() {
  for (int number : kWatched) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(number, &action, nullptr);
  }
  ignore(SIGXFSZ);  // a file that is too large is an error with a name (EFBIG)
  ignore(SIGIO);    // told to the holder of a lease that another wants broken
}

void block_signals_in_this_thread() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

bool is_stopping() { return stop_signal.load(std::memory_order_relaxed) != 0; }

void die_if_stopping() {
  const int number = stop_signal.load();
  if (number == 0) return;
  std::fflush(stdout);  // names of files that are in place
  restore_default(number);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
  std::_Exit(128 + number);  // only if the signal cannot be delivered
}

}  // namespace aiscp
