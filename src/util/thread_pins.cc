// SPDX-License-Identifier: MIT
//
// The list of records grows at its head and never shrinks.
#include "util/thread_pins.h"

namespace hipfile {
namespace {

std::atomic<ThreadPins*> g_records{nullptr};

}  // namespace

ThreadPins* ThreadPins::adopt() {
  for (ThreadPins* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next_) {
    bool is_owned = false;
    if (record->is_owned_.compare_exchange_strong(is_owned, true, std::memory_order_acquire)) {
      return record;
    }
  }
  auto* record = new ThreadPins;
  record->next_ = g_records.load(std::memory_order_relaxed);
  while (!g_records.compare_exchange_weak(record->next_, record, std::memory_order_acq_rel)) {
  }
  return record;
}

ThreadPins& ThreadPins::mine() {
  struct Owner {
    ThreadPins* record = adopt();
    ~Owner() { record->is_owned_.store(false, std::memory_order_release); }
  };
  thread_local Owner owner;
  return *owner.record;
}

std::atomic<const void*>* ThreadPins::vacancy() {
  for (std::atomic<const void*>& place : held_) {
    if (place.load(std::memory_order_relaxed) == nullptr) return &place;
  }
  return nullptr;
}

bool ThreadPins::is_pinned(const void* slot) {
  for (ThreadPins* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next_) {
    for (const std::atomic<const void*>& place : record->held_) {
      if (place.load(std::memory_order_seq_cst) == slot) return true;
    }
  }
  return false;
}

bool ThreadPins::is_any_pinned() {
  for (ThreadPins* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next_) {
    for (const std::atomic<const void*>& place : record->held_) {
      if (place.load(std::memory_order_seq_cst) != nullptr) return true;
    }
  }
  return false;
}

}  // namespace hipfile
