// SPDX-License-Identifier: MIT
//
// Events of an emulated device: a place in a stream and the time at which it was reached.

#include <chrono>

#include "stream.h"

namespace hip_portable::emulated {
namespace {

std::int64_t now_in_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

EmulatedEvent::Record EmulatedEvent::last() const {
  const MutexLock lock(mutex_);
  return last_;
}

Place EmulatedEvent::place() const { return last().place; }

hipError_t EmulatedEvent::record(DeviceStream& stream) {
  Record record;
  record.nanoseconds = std::make_shared<std::atomic<std::int64_t>>(0);
  const auto mark = [time = record.nanoseconds] {
    time->store(now_in_nanoseconds(), std::memory_order_release);
  };
  record.place = static_cast<EmulatedStream&>(stream).submit(mark, true);
  const MutexLock lock(mutex_);
  last_ = record;
  return hipSuccess;
}

hipError_t EmulatedEvent::query() {
  return machine_.scheduler.is_reached(place()) ? hipSuccess : hipErrorNotReady;
}

hipError_t EmulatedEvent::synchronize() {
  machine_.scheduler.wait(place());
  return hipSuccess;
}

hipError_t EmulatedEvent::elapsed_since(DeviceEvent& start, float* milliseconds) {
  auto& first = static_cast<EmulatedEvent&>(start);
  const Record from = first.last();
  const Record to = last();
  if (!has_timing_ || !first.has_timing_) return hipErrorInvalidHandle;
  if (from.nanoseconds == nullptr || to.nanoseconds == nullptr) return hipErrorInvalidHandle;
  Scheduler& scheduler = machine_.scheduler;
  if (!scheduler.is_reached(from.place) || !scheduler.is_reached(to.place)) {
    return hipErrorNotReady;
  }
  const std::int64_t elapsed = to.nanoseconds->load(std::memory_order_acquire) -
                               from.nanoseconds->load(std::memory_order_acquire);
  *milliseconds = static_cast<float>(static_cast<double>(elapsed) / 1e6);
  return hipSuccess;
}

}  // namespace hip_portable::emulated
