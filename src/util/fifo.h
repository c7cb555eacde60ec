// SPDX-License-Identifier: MIT
//
// First in, first out, of objects that are linked through a member of their own: nothing is
// allocated, so that putting one in cannot fail.
#pragma once

namespace hipfile {

/// T has a member `T* next`. An object is in one list at a time and outlives its stay there.
template <class T>
class Fifo {
 public:
  bool is_empty() const { return first_ == nullptr; }

  void push(T* object) {
    object->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = object;
    last_ = object;
  }

  /// The list must not be empty.
  T* pop() {
    T* object = first_;
    first_ = object->next;
    if (first_ == nullptr) last_ = nullptr;
    return object;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace hipfile
