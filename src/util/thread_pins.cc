// SPDX-License-Identifier: MIT
//
// Looking through the records of all threads.
#include "util/thread_pins.h"

#include "util/per_thread.h"

namespace hipfile {

ThreadPins& ThreadPins::mine() { return PerThread<ThreadPins>::mine(); }

std::atomic<const void*>* ThreadPins::vacancy() {
  for (std::atomic<const void*>& place : held_) {
    if (place.load(std::memory_order_relaxed) == nullptr) return &place;
  }
  return nullptr;
}

bool ThreadPins::is_pinned(const void* slot) {
  return PerThread<ThreadPins>::any_of([slot](const ThreadPins& pins) {
    for (const std::atomic<const void*>& place : pins.held_) {
      if (place.load(std::memory_order_seq_cst) == slot) return true;
    }
    return false;
  });
}

bool ThreadPins::is_any_pinned() {
  return PerThread<ThreadPins>::any_of([](const ThreadPins& pins) {
    for (const std::atomic<const void*>& place : pins.held_) {
      if (place.load(std::memory_order_seq_cst) != nullptr) return true;
    }
    return false;
  });
}

}  // namespace hipfile
