// SPDX-License-Identifier: MIT
//
// Whether a device is still there. A GPU that is lost does nothing of what is queued, and wakes
// nobody: whoever waits for its streams without a call of HIP learns it here.
#pragma once

#include <vector>

#include "gpu/loader.h"
#include "util/mutex.h"
#include "util/result.h"

namespace hipfile {

/// Success, or the error that every call for the device answers. A call of HIP.
Status ask_device(const gpu::Runtime& runtime, int device);

/// Asks from a thread of its own: a call of HIP may stand behind one of the program that waits for
/// a stream, and whoever lets the streams go on must not stand there too (rule 10). Thread-safe.
class DeviceHealth {
 public:
  DeviceHealth() = default;
  DeviceHealth(const DeviceHealth&) = delete;
  DeviceHealth& operator=(const DeviceHealth&) = delete;

  /// False if no thread is to be had.
  bool start_thread();
  /// Have a device asked. Does not wait.
  void ask(const gpu::Runtime& runtime, int device);
  /// The last answers were errors: three in a row, since one may pass.
  bool is_lost(const gpu::Runtime& runtime, int device) const;

 private:
  struct Device {
    const gpu::Runtime* runtime = nullptr;
    int ordinal = 0;
    bool is_wanted = false;  // to be asked
    unsigned errors = 0;     // answers in a row
  };

  static void* ask_thread(void* self);
  void ask_next();
  const Device* find(const gpu::Runtime& runtime, int device) const HIPFILE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar change_;
  bool has_thread_ HIPFILE_GUARDED_BY(mutex_) = false;
  std::vector<Device> devices_ HIPFILE_GUARDED_BY(mutex_);  // grows only
};

}  // namespace hipfile
