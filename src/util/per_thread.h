// SPDX-License-Identifier: MIT
//
// One record for each thread, which the thread alone writes and any thread may look at: no shared
// cache line is written on the I/O path (rule 30).
#pragma once

#include <atomic>

#include "util/of_this_thread.h"

namespace hipfile {

/// The members of T are atomics. Records stand on a list that grows at its head and never shrinks;
/// a thread that ends leaves its own, unchanged, to the next one that starts.
template <class T>
class PerThread {
 public:
  /// The record of the calling thread.
  static T& mine() {
    struct Owner {
      Node* node = adopt();
      ~Owner() { node->is_owned.store(false, std::memory_order_release); }
    };
    return of_this_thread<Owner>().node->value;
  }

  /// Calls visit(T&) for the records of all threads, until it returns true. Returns whether it did.
  template <class Visit>
  static bool any_of(Visit&& visit) {
    for (Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      if (visit(node->value)) return true;
    }
    return false;
  }

 private:
  struct Node {
    T value;
    std::atomic<bool> is_owned{true};
    Node* next = nullptr;  // immutable once published
  };

  static Node* adopt() {
    for (Node* node = head_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      bool is_owned = false;
      if (node->is_owned.compare_exchange_strong(is_owned, true, std::memory_order_acquire)) {
        return node;
      }
    }
    auto* node = new Node;
    node->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(node->next, node, std::memory_order_acq_rel)) {
    }
    return node;
  }

  static inline std::atomic<Node*> head_{nullptr};
};

}  // namespace hipfile
