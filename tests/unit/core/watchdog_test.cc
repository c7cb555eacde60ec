// SPDX-License-Identifier: MIT
//
// Rule 34: a long wait is told once, with its stage; a short one never.
#include "util/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hipfile {
namespace {

constexpr int64_t kLimitMs = 10000;

TEST(Watchdog, Rule34_LongWaitIsToldOnce) {
  const WaitMark mark("the test");
  const int64_t later = coarse_ms() + kLimitMs + 1;
  EXPECT_EQ(report_long_waits(later, kLimitMs), 1);
  EXPECT_EQ(report_long_waits(later + 1, kLimitMs), 0);
}

TEST(Watchdog, Rule34_ShortWaitAndEndedWaitAreNotTold) {
  {
    const WaitMark mark("the test");
    EXPECT_EQ(report_long_waits(coarse_ms() + kLimitMs / 2, kLimitMs), 0);
  }
  EXPECT_EQ(report_long_waits(coarse_ms() + 10 * kLimitMs, kLimitMs), 0);
}

TEST(Watchdog, Rule34_WaitsOfOtherThreadsAreSeen) {
  std::atomic<int> state{0};
  std::thread waiter([&] {
    const WaitMark mark("another thread");
    state = 1;
    while (state != 2) std::this_thread::yield();
  });
  while (state != 1) std::this_thread::yield();
  EXPECT_EQ(report_long_waits(coarse_ms() + kLimitMs + 1, kLimitMs), 1);
  state = 2;
  waiter.join();
}

}  // namespace
}  // namespace hipfile
