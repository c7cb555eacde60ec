// SPDX-License-Identifier: MIT
// What ThreadSanitizer cannot see: liburing unmaps a ring by a raw system call, so when a thread
// has ended, the ring of another at the same address looks like shared memory. These functions
// touch nothing but the ring and the queue of their own thread.
//
// Part of every threaded test program; without the sanitizer nobody calls it.
extern "C" const char* __tsan_default_suppressions();

extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_suppressions() {
  return "race:UringQueue::prepare\n"
         "race:UringQueue::send\n"
         "race:UringQueue::next_result\n";
}
