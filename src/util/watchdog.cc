// SPDX-License-Identifier: MIT
//
// One thread, started by the first wait of the process, looks at the marks every few seconds. It is
// never joined. A child of fork has none.
#include "util/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>

#include "util/log.h"
#include "util/per_thread.h"

namespace hipfile {
namespace {

constexpr int64_t kLimitMs = 10000;
constexpr timespec kInterval = {4, 0};

struct Wait {
  std::atomic<const char*> stage{nullptr};
  std::atomic<int64_t> since_ms{0};
  std::atomic<int64_t> reported_since_ms{-1};  // written by the watchdog
};

void* watch(void*) {
  pthread_setname_np(pthread_self(), "hipfile-watch");
  for (;;) {
    nanosleep(&kInterval, nullptr);
    (void)report_long_waits(coarse_ms(), kLimitMs);
  }
  return nullptr;
}

void start_watching() {
  static std::atomic<bool> is_started{false};
  if (is_started.load(std::memory_order_relaxed) || is_started.exchange(true)) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  (void)pthread_create(&thread, &attributes, &watch, nullptr);  // without it nothing is logged
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

int64_t coarse_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

WaitMark::WaitMark(const char* stage)
    : outer_stage_(PerThread<Wait>::mine().stage.load(std::memory_order_relaxed)),
      outer_since_ms_(PerThread<Wait>::mine().since_ms.load(std::memory_order_relaxed)) {
  start_watching();
  Wait& wait = PerThread<Wait>::mine();
  wait.since_ms.store(coarse_ms(), std::memory_order_relaxed);
  wait.stage.store(stage, std::memory_order_release);
}

WaitMark::~WaitMark() {
  Wait& wait = PerThread<Wait>::mine();
  wait.stage.store(outer_stage_, std::memory_order_release);
  wait.since_ms.store(outer_since_ms_, std::memory_order_relaxed);
}

int report_long_waits(int64_t now_ms, int64_t limit_ms) {
  int count = 0;
  PerThread<Wait>::any_of([&](Wait& wait) {
    const char* stage = wait.stage.load(std::memory_order_acquire);
    const int64_t since_ms = wait.since_ms.load(std::memory_order_relaxed);
    if (stage == nullptr || now_ms - since_ms < limit_ms) return false;
    if (wait.reported_since_ms.exchange(since_ms, std::memory_order_relaxed) == since_ms)
      return false;
    log_warning("a thread has waited %lld ms for %s", static_cast<long long>(now_ms - since_ms),
                stage);
    ++count;
    return false;
  });
  return count;
}

}  // namespace hipfile
