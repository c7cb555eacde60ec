// SPDX-License-Identifier: MIT
//
// The question is how much memory is free: it touches no stream, and spoils no capture.
#include "gpu/device_health.h"

#include <pthread.h>

#include <algorithm>

#include "gpu/guards.h"
#include "util/detached_thread.h"
#include "util/log.h"

namespace hipfile {
namespace {
constexpr unsigned kErrorsOfALoss = 3;
}

Status ask_device(const gpu::Runtime& runtime, int device) {
  if (runtime.is_gone.load(std::memory_order_acquire)) return Error::of(hipFileDriverClosing);
  const gpu::HipTable& hip = runtime.hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const DeviceGuard current(hip, device);
  if (current.error() != hipSuccess) return Error::from_hip(current.error());
  size_t free = 0, total = 0;
  return status_of(hip.MemGetInfo(&free, &total));
}

bool DeviceHealth::start_thread() {
  {
    MutexLock lock(mutex_);
    if (has_thread_) return true;
    has_thread_ = true;
  }
  if (start_detached_thread(&DeviceHealth::ask_thread, this)) return true;
  MutexLock lock(mutex_);
  has_thread_ = false;
  return false;
}

const DeviceHealth::Device* DeviceHealth::find(const gpu::Runtime& runtime, int device) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const Device& known) {
    return known.runtime == &runtime && known.ordinal == device;
  });
  return found != devices_.end() ? &*found : nullptr;
}

void DeviceHealth::ask(const gpu::Runtime& runtime, int device) {
  MutexLock lock(mutex_);
  const Device* known = find(runtime, device);
  if (known == nullptr) {
    devices_.push_back({&runtime, device, true});
  } else {
    devices_[static_cast<size_t>(known - devices_.data())].is_wanted = true;
  }
  change_.notify_all();
}

bool DeviceHealth::is_lost(const gpu::Runtime& runtime, int device) const {
  MutexLock lock(mutex_);
  const Device* known = find(runtime, device);
  return known != nullptr && known->errors >= kErrorsOfALoss;
}

void* DeviceHealth::ask_thread(void* self) {
  pthread_setname_np(pthread_self(), "hipfile-health");
  for (;;) static_cast<DeviceHealth*>(self)->ask_next();
}

void DeviceHealth::ask_next() {
  size_t at = 0;
  Device device;
  {
    MutexLock lock(mutex_);
    const auto is_wanted = [](const Device& known) { return known.is_wanted; };
    auto next = std::find_if(devices_.begin(), devices_.end(), is_wanted);
    while (next == devices_.end()) {
      change_.wait(mutex_);
      next = std::find_if(devices_.begin(), devices_.end(), is_wanted);
    }
    next->is_wanted = false;
    at = static_cast<size_t>(next - devices_.begin());
    device = *next;
  }
  const Status answer = ask_device(*device.runtime, device.ordinal);
  const unsigned errors = answer.ok() ? 0 : device.errors + 1;
  if (errors == kErrorsOfALoss) {
    log_error("device %d is lost (HIP error %d): what is in its streams is given up",
              device.ordinal, static_cast<int>(answer.error().hip));
  }
  MutexLock lock(mutex_);
  devices_[at].errors = errors;
}

}  // namespace hipfile
