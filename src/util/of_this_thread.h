// SPDX-License-Identifier: MIT
//
// An object of each thread that may be used to the very end of the thread.
#pragma once

#include <pthread.h>

namespace hipfile {

/// The T of the calling thread: made at first use, destroyed when the thread ends. A thread_local T
/// would not do. What runs later on the thread may call us again: exit handlers of the program run
/// after the destructors of the main thread's thread_local objects, and would meet a destroyed one.
/// Here a pthread key destroys the object: later than those, never for a main thread that exits,
/// and once more where somebody comes later still.
template <class T>
T& of_this_thread() {
  thread_local constinit T* object = nullptr;  // has no destructor, so it can always be read
  if (object != nullptr) return *object;
  struct Key {
    pthread_key_t key = 0;
    const bool is_made = pthread_key_create(&key, &destroy) == 0;  // else the objects stay
    static void destroy(void* ended) {
      object = nullptr;
      delete static_cast<T*>(ended);
    }
  };
  static const Key key;
  object = new T;
  if (key.is_made) (void)pthread_setspecific(key.key, object);
  return *object;
}

}  // namespace hipfile
