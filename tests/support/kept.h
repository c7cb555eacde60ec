// SPDX-License-Identifier: MIT
//
// Objects that the library makes once and never destroys (threads of theirs may still sleep in
// them). A test that makes its own keeps them reachable, so that LeakSanitizer sees real leaks
// only.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace hipfile {

/// Moves `object` to where it lives until the process ends. Thread-safe.
template <typename T>
T& kept(T object) {
  static std::mutex mutex;
  static std::vector<T*>& all = *new std::vector<T*>;
  T* moved = new T(std::move(object));
  const std::lock_guard<std::mutex> lock(mutex);
  all.push_back(moved);
  return *moved;
}

}  // namespace hipfile
