// SPDX-License-Identifier: MIT
//
// The habits that are calls; those of the order of work are HardwareQueue's.

#include "hazards.h"

namespace hip_portable::emulated {
namespace {

constexpr int kNoDevice = -1;

}  // namespace

void Hazards::switch_on() {
  are_on_ = true;
  host_functions_ = scheduler_.open(kNoDevice, QueueKind::kNonBlocking);
}

std::shared_ptr<HardwareQueue> Hazards::hardware_queue(int device, int priority) {
  if (!are_on_) return nullptr;
  const MutexLock lock(mutex_);
  Share& share = shares_[{device, priority}];
  std::shared_ptr<HardwareQueue>& queue = share.queues[share.next++ % share.queues.size()];
  if (queue == nullptr) queue = std::make_shared<HardwareQueue>();
  return queue;
}

void Hazards::drain(int device) {
  if (!are_on_) return;
  const MutexLock lock(driver_);
  scheduler_.wait_for_device(device);
}

// The copies that are queued go on: the lock is needed to queue one.
void Hazards::admit_copy() {
  if (!are_on_) return;
  const MutexLock lock(driver_);
}

bool Hazards::knows(const ValueWait& wait) const {
  const std::uint64_t all = wait.width == ValueWidth::k32 ? UINT32_MAX : UINT64_MAX;
  return !are_on_ || (wait.mask & all) == all;
}

void Hazards::run_host_function(const std::function<void()>& function) {
  if (!are_on_) return function();
  scheduler_.wait(scheduler_.submit(host_functions_, function, false));
}

}  // namespace hip_portable::emulated
