// SPDX-License-Identifier: MIT
//
// Leaving the calling thread as it was found.
#pragma once

#include "gpu/loader.h"
#include "util/result.h"

namespace hipfile {

/// Makes a device current, and puts the caller's back.
class DeviceGuard {
 public:
  DeviceGuard(const gpu::HipTable& hip, int device) : hip_(hip) {
    error_ = hip_.GetDevice(&before_);
    if (error_ == hipSuccess && before_ != device) {
      error_ = hip_.SetDevice(device);
      is_changed_ = error_ == hipSuccess;
    }
  }
  ~DeviceGuard() {
    if (is_changed_) (void)hip_.SetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  hipError_t error() const { return error_; }

 private:
  const gpu::HipTable& hip_;
  int before_ = 0;
  bool is_changed_ = false;
  hipError_t error_ = hipSuccess;
};

/// Keeps a failing call of ours out of hipGetLastError(). Our runtime can put any value back; of
/// another only success can be restored, so there an error that was set before survives only if no
/// call of ours fails.
class LastErrorGuard {
 public:
  explicit LastErrorGuard(const gpu::HipTable& hip) : hip_(hip), before_(hip.PeekAtLastError()) {}
  ~LastErrorGuard() {
    if (hip_.PeekAtLastError() == before_) return;
    if (hip_.PortableSetLastError != nullptr) {
      (void)hip_.PortableSetLastError(before_);
    } else if (before_ == hipSuccess) {
      (void)hip_.GetLastError();
    }
  }
  LastErrorGuard(const LastErrorGuard&) = delete;
  LastErrorGuard& operator=(const LastErrorGuard&) = delete;

 private:
  const gpu::HipTable& hip_;
  const hipError_t before_;
};

/// Calls that no graph could repeat spoil a capture of the program, also one of another thread's
/// stream. While this object lives, those of the calling thread do not (rule 12).
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const gpu::HipTable& hip) : hip_(hip) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() {
    if (hip_.ThreadExchangeStreamCaptureMode == nullptr) return;
    (void)hip_.ThreadExchangeStreamCaptureMode(&mode_);
  }

  const gpu::HipTable& hip_;
  hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;
};

inline Status status_of(hipError_t error) {
  return error == hipSuccess ? Status() : Error::from_hip(error);
}

}  // namespace hipfile
