// SPDX-License-Identifier: MIT
// The positioned reads and writes of regular files that this process makes, seen by functions of
// the test program that stand before libc's. io_uring is not seen.
#pragma once

#include <cstddef>

namespace hipfile::test {

struct IoSeen {
  size_t calls = 0;
  size_t on_caller = 0;  // by the thread that started the watch
  size_t largest = 0;    // bytes
  unsigned at_once = 0;  // most in flight together
};

// Calls from 4 KiB on are counted from here on; each takes `delay_us` longer.
void start_io_watch(unsigned delay_us = 0);
// What was seen since.
IoSeen stop_io_watch();

}  // namespace hipfile::test
