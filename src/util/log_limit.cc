// SPDX-License-Identifier: MIT
//
// The limit of one kind of message. Called only where the level is on: off, nothing here is
// touched, since it is a line that threads share.
#include <time.h>

#include "util/log.h"

namespace hipfile {

bool LogLimit::admits(unsigned* suppressed) {
  timespec now = {};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return admits_at(static_cast<unsigned>(now.tv_sec) + 1, suppressed);
}

bool LogLimit::admits_at(unsigned second, unsigned* suppressed) {
  unsigned last = second_.load(std::memory_order_relaxed);
  if (last != second && second_.compare_exchange_strong(last, second, std::memory_order_relaxed)) {
    *suppressed = suppressed_.exchange(0, std::memory_order_relaxed);
    return true;
  }
  suppressed_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace hipfile
