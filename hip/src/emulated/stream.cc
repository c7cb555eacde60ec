// SPDX-License-Identifier: MIT
//
// What a stream can do, as operations of its queue.

#include "stream.h"

#include <chrono>
#include <thread>
#include <utility>

namespace hip_portable::emulated {
namespace {

// Copied faster than a worker wakes up.
constexpr std::size_t kShortCopy = std::size_t{64} << 10;

constexpr int kEagerPolls = 64;
constexpr std::chrono::microseconds kFirstNap{5};
constexpr std::chrono::microseconds kLongestNap{200};

std::uint64_t load(const void* address, ValueWidth width) {
  if (width == ValueWidth::k32) {
    return __atomic_load_n(static_cast<const std::uint32_t*>(address), __ATOMIC_ACQUIRE);
  }
  return __atomic_load_n(static_cast<const std::uint64_t*>(address), __ATOMIC_ACQUIRE);
}

void store(void* address, std::uint64_t value, ValueWidth width) {
  if (width == ValueWidth::k32) {
    __atomic_store_n(static_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                     __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(static_cast<std::uint64_t*>(address), value, __ATOMIC_RELEASE);
  }
}

// ">=" is cyclic, as the hardware has it: the difference is not negative.
bool is_at_least(std::uint64_t now, std::uint64_t value, ValueWidth width) {
  if (width == ValueWidth::k32) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(now - value)) >= 0;
  }
  return static_cast<std::int64_t>(now - value) >= 0;
}

bool is_met(const ValueWait& wait, std::uint64_t found) {
  const std::uint64_t range =
      wait.width == ValueWidth::k32 ? std::uint64_t{UINT32_MAX} : UINT64_MAX;
  const std::uint64_t now = found & wait.mask & range;
  const std::uint64_t value = wait.value & range;
  switch (wait.condition) {
    case hipStreamWaitValueEq: return now == value;
    case hipStreamWaitValueAnd: return (now & value) != 0;
    case hipStreamWaitValueNor: return (~(now | value) & range) != 0;
    default: return is_at_least(now, value, wait.width);
  }
}

// The program changes the value with plain stores and wakes nobody, so this must look. Naps keep
// a wait of seconds from taking a core.
void wait_until_met(const Scheduler& scheduler, const ValueWait& wait, const void* address) {
  std::chrono::microseconds nap = kFirstNap;
  for (int polls = 0; !is_met(wait, load(address, wait.width)); ++polls) {
    if (scheduler.is_exiting()) return;
    if (polls < kEagerPolls) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, kLongestNap);
    }
  }
}

}  // namespace

EmulatedStream::EmulatedStream(Machine& machine, int device, QueueKind kind,
                               std::shared_ptr<HardwareQueue> hardware)
    : machine_(machine),
      device_(device),
      queue_(machine.scheduler.open(device, kind, std::move(hardware))) {}

EmulatedStream::~EmulatedStream() { machine_.scheduler.close(queue_); }

Place EmulatedStream::submit(std::function<void()> run, bool is_short) {
  return machine_.scheduler.submit(queue_, std::move(run), is_short);
}

hipError_t EmulatedStream::copy(void* to, const void* from, std::size_t size, bool is_pageable) {
  Machine& machine = machine_;
  machine.hazards.admit_copy();
  const Place place = submit([&machine, to, from, size] { machine.copy(to, from, size); },
                             is_pageable || size <= kShortCopy);
  // Programs reuse pageable memory, also on the stack, when the call has returned.
  if (is_pageable) machine_.scheduler.wait(place);
  return hipSuccess;
}

hipError_t EmulatedStream::fill(void* to, unsigned char value, std::size_t size) {
  Machine& machine = machine_;
  machine.hazards.admit_copy();
  submit([&machine, to, value, size] { machine.fill(to, value, size); }, size <= kShortCopy);
  return hipSuccess;
}

hipError_t EmulatedStream::wait_event(DeviceEvent& event) {
  const Place place = static_cast<EmulatedEvent&>(event).place();
  if (machine_.scheduler.is_reached(place)) return hipSuccess;
  machine_.scheduler.submit(queue_, [] {}, true, {place});
  return hipSuccess;
}

hipError_t EmulatedStream::wait_value(const ValueWait& wait) {
  Machine& machine = machine_;
  if (!machine.hazards.knows(wait)) return hipErrorNotSupported;
  const auto run = [&machine, wait] {
    wait_until_met(machine.scheduler, wait, machine.work_on(wait.address, sizeof(wait.value)));
  };
  submit(run, false);
  return hipSuccess;
}

hipError_t EmulatedStream::write_value(void* address, std::uint64_t value, ValueWidth width) {
  Machine& machine = machine_;
  const std::size_t size = width == ValueWidth::k32 ? sizeof(std::uint32_t) : sizeof(value);
  submit([&machine, address, value, width,
          size] { store(machine.work_on(address, size), value, width); },
         true);
  return hipSuccess;
}

hipError_t EmulatedStream::host_function(std::function<void()> function) {
  Machine& machine = machine_;
  submit([&machine, run = std::move(function)] { machine.hazards.run_host_function(run); }, false);
  return hipSuccess;
}

hipError_t EmulatedStream::query() {
  return machine_.scheduler.is_idle(queue_) ? queue_->error() : hipErrorNotReady;
}

hipError_t EmulatedStream::synchronize() {
  machine_.scheduler.wait_for_queue(queue_);
  return queue_->error();
}

}  // namespace hip_portable::emulated
