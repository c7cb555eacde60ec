// SPDX-License-Identifier: MIT
//
// The bad habits of real drivers, for HIP_PORTABLE_HAZARDS=1. A program that hangs with them on may
// hang on a GPU. Each was measured on some driver:
//
// - what frees, unregisters, loads code or copies synchronously takes a lock that every copy needs,
//   and waits for all streams of the device while it holds it;
// - streams of one priority share four hardware queues, and work in one runs as it was queued;
// - a stream takes 1,020 operations, then queueing blocks;
// - one thread runs the host functions of all streams;
// - a wait for a value knows no mask.
//
// Switched off, everything here does nothing.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "../device.h"
#include "../mutex.h"
#include "work_queue.h"

namespace hip_portable::emulated {

// All of it is guarded by the scheduler's mutex.
class HardwareQueue {
 public:
  static constexpr std::uint64_t kMostOperations = 1020;  // of one stream

  // Puts the operation that gets `place` behind the last that any stream of this queue got.
  void line_up(const Place& place, std::vector<Place>* after) {
    if (last_.queue != nullptr && last_.queue != place.queue) after->push_back(last_);
    last_ = place;
  }

 private:
  Place last_;
};

class Hazards {
 public:
  static constexpr int kNullStream = INT_MIN;

  explicit Hazards(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Before the first stream is made.
  void switch_on();

  // Streams of a device and priority get four in turn; the null stream has a priority of its own.
  // Null if hazards are off.
  std::shared_ptr<HardwareQueue> hardware_queue(int device, int priority);

  // At the beginning of a call that drains the device.
  void drain(int device) HIP_PORTABLE_EXCLUDES(driver_);
  // At the beginning of a call that queues a copy.
  void admit_copy() HIP_PORTABLE_EXCLUDES(driver_);

  bool knows(const ValueWait& wait) const;
  // Returns when the function has.
  void run_host_function(const std::function<void()>& function);

 private:
  struct Share {
    std::array<std::shared_ptr<HardwareQueue>, 4> queues;
    std::size_t next = 0;
  };

  bool are_on_ = false;
  Scheduler& scheduler_;
  Mutex driver_;
  std::shared_ptr<Queue> host_functions_;
  Mutex mutex_;
  std::map<std::pair<int, int>, Share> shares_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable::emulated
