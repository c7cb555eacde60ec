// SPDX-License-Identifier: MIT
//
// Streams and events of an emulated device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "../device.h"
#include "../mutex.h"
#include "machine.h"

namespace hip_portable::emulated {

class EmulatedStream final : public DeviceStream {
 public:
  EmulatedStream(Machine& machine, int device, QueueKind kind,
                 std::shared_ptr<HardwareQueue> hardware);
  ~EmulatedStream() override;

  hipError_t copy(void* to, const void* from, std::size_t size, bool is_pageable) override;
  hipError_t copy_indirect(const hipPortableIndirectCopy_t* descriptor) override;
  hipError_t fill(void* to, unsigned char value, std::size_t size) override;
  hipError_t wait_event(DeviceEvent& event) override;
  hipError_t wait_value(const ValueWait& wait) override;
  hipError_t write_value(void* address, std::uint64_t value, ValueWidth width) override;
  hipError_t host_function(std::function<void()> function) override;
  hipError_t query() override;
  hipError_t synchronize() override;

  // Queues anything else.
  Place submit(std::function<void()> run, bool is_short);

 private:
  Machine& machine_;
  const int device_;
  const std::shared_ptr<Queue> queue_;
};

class EmulatedEvent final : public DeviceEvent {
 public:
  EmulatedEvent(Machine& machine, unsigned flags)
      : machine_(machine), has_timing_((flags & hipEventDisableTiming) == 0) {}

  hipError_t record(DeviceStream& stream) override;
  hipError_t query() override;
  hipError_t synchronize() override;
  hipError_t elapsed_since(DeviceEvent& start, float* milliseconds) override;

  // What a stream has to wait for. Without a queue if the event was never recorded.
  Place place() const;

 private:
  struct Record {
    Place place;
    std::shared_ptr<std::atomic<std::int64_t>> nanoseconds;  // null: never recorded
  };

  Record last() const;

  Machine& machine_;
  const bool has_timing_;
  mutable Mutex mutex_;
  Record last_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable::emulated
