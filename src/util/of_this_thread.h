// SPDX-License-Identifier: MIT
//
// An object of each thread that may be used to the very end of the thread.
#pragma once

#include <utility>

namespace hipfile {

/// The T of the calling thread: made at first use, destroyed when the thread ends. A thread_local T
/// would not do. What runs later on the thread may call us again: exit handlers of the program run
/// after the destructors of the main thread's thread_local objects, and would meet a destroyed one.
/// Here they get a new one, which stays.
template <class T>
T& of_this_thread() {
  thread_local constinit T* object = nullptr;  // has no destructor, so it can always be read
  struct Ender {
    ~Ender() { delete std::exchange(object, nullptr); }
  };
  if (object == nullptr) {
    object = new T;
    thread_local Ender ender;
    (void)ender;
  }
  return *object;
}

}  // namespace hipfile
