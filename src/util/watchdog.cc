// SPDX-License-Identifier: MIT
//
// One thread, started by the first wait of the process, looks at the marks every few seconds. It is
// never joined. A child of fork has none.
#include "util/watchdog.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "util/detached_thread.h"
#include "util/env.h"
#include "util/log.h"
#include "util/per_thread.h"

namespace hipfile {

struct WaitRecord {
  std::atomic<const char*> stage{nullptr};
  std::atomic<int64_t> since_ms{0};
  std::atomic<int64_t> reported_since_ms{-1};  // written by the watchdog
};

namespace {

constexpr size_t kLimitMs = 10000;
constexpr size_t kLongestLimitMs = 86400 * 1000;
constexpr int64_t kLooksPerLimit = 3;  // so a wait is told at the latest a third behind its time

void* watch(void*) {
  pthread_setname_np(pthread_self(), "hipfile-watch");
  const size_t wish = env_size("HIPFILE_WATCHDOG_MS", kLimitMs);
  const auto limit_ms = static_cast<int64_t>(std::clamp<size_t>(wish, 1, kLongestLimitMs));
  const int64_t pause_ms = limit_ms / kLooksPerLimit + 1;
  const timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
  for (;;) {
    nanosleep(&pause, nullptr);
    (void)report_long_waits(coarse_ms(), limit_ms);
  }
  return nullptr;
}

void start_watching() {
  static std::atomic<bool> is_started{false};
  if (is_started.load(std::memory_order_relaxed) || is_started.exchange(true)) return;
  (void)start_detached_thread(&watch, nullptr);  // without it nothing is logged
}

}  // namespace

int64_t coarse_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

WaitMark::WaitMark(const char* stage)
    : record_(PerThread<WaitRecord>::mine()),
      outer_stage_(record_.stage.load(std::memory_order_relaxed)),
      outer_since_ms_(record_.since_ms.load(std::memory_order_relaxed)) {
  start_watching();
  record_.since_ms.store(coarse_ms(), std::memory_order_relaxed);
  record_.stage.store(stage, std::memory_order_release);
}

WaitMark::~WaitMark() {
  record_.stage.store(outer_stage_, std::memory_order_release);
  record_.since_ms.store(outer_since_ms_, std::memory_order_relaxed);
}

int report_long_waits(int64_t now_ms, int64_t limit_ms) {
  int count = 0;
  PerThread<WaitRecord>::any_of([&](WaitRecord& wait) {
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
