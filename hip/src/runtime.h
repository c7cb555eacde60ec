// SPDX-License-Identifier: MIT
//
// The root object behind all entry points: devices and handles. Made by the first call that needs a
// device, never destroyed: threads and exit handlers of the program may call until the very end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capture.h"
#include "device.h"
#include "handles.h"
#include "mutex.h"
#include "settings.h"

namespace hip_portable {

struct Stream : std::enable_shared_from_this<Stream> {
  std::unique_ptr<DeviceStream> owned;  // null for the null stream
  DeviceStream* work = nullptr;
  int device = 0;
  unsigned flags = 0;
  CapturePlace place;  // guarded by the runtime's Captures
};

struct Event {
  std::unique_ptr<DeviceEvent> mark;
  int device = 0;
  CapturePlace place;  // of its last record; guarded by the runtime's Captures
};

// Code that a program loaded, and the handles of the kernels that it asked for.
struct Module {
  std::unique_ptr<DeviceModule> code;
  int device = 0;
  Mutex mutex;
  std::map<std::string, hipFunction_t, std::less<>> kernels HIP_PORTABLE_GUARDED_BY(mutex);
};

struct Kernel {
  std::shared_ptr<Module> module;  // keeps the code
  void* code = nullptr;
  int device = 0;
};

class Runtime {
 public:
  // Starts the runtime if nothing has yet. The error holds for the life of the process:
  // hipErrorNoDevice or a driver's own; hipErrorNotInitialized in a child that inherited the
  // runtime by fork; hipErrorDeinitialized once the process exits and the device is hardware.
  static hipError_t enter(Runtime** runtime);

  const Settings& settings() const { return settings_; }
  int device_count() const { return static_cast<int>(devices_.size()); }
  bool is_device(int ordinal) const { return ordinal >= 0 && ordinal < device_count(); }
  Device& device(int ordinal) const { return *devices_[static_cast<std::size_t>(ordinal)]; }

  // Looks a stream up: a handle, 0 and hipStreamLegacy for the null stream of `device`,
  // hipStreamPerThread, or a stream that the program made by the driver itself.
  // hipErrorInvalidHandle
  hipError_t find_stream(hipStream_t handle, int device, std::shared_ptr<Stream>* stream);
  hipError_t create_stream(int device, unsigned flags, int priority,
                           std::shared_ptr<Stream>* stream);

  using Streams = HandleTable<hipStream_t, Stream, 0x50>;
  using Events = HandleTable<hipEvent_t, Event, 0xe0>;
  using Modules = HandleTable<hipModule_t, Module, 0x30>;
  using Kernels = HandleTable<hipFunction_t, Kernel, 0x40>;
  using Graphs = HandleTable<hipGraph_t, Graph, 0x60>;
  using Executables = HandleTable<hipGraphExec_t, Graph, 0x70>;
  Streams& streams() { return streams_; }
  Events& events() { return events_; }
  Modules& modules() { return modules_; }
  Kernels& kernels() { return kernels_; }
  Graphs& graphs() { return graphs_; }
  Executables& executables() { return executables_; }
  Captures& captures() { return captures_; }

 private:
  Runtime() = default;
  static Runtime* start();
  static void at_exit();
  hipError_t state() const;
  std::shared_ptr<Stream> stream_of_thread(int device);
  std::shared_ptr<Stream> adopt_stream(hipStream_t handle);

  Settings settings_;
  hipError_t start_error_ = hipSuccess;
  volatile const std::uint8_t* is_ours_ = nullptr;  // reads 0 in a child of fork
  std::atomic<bool> is_exiting_{false};
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::shared_ptr<Stream>> null_streams_;
  Streams streams_;
  Events events_;
  Modules modules_;
  Kernels kernels_;
  Graphs graphs_;
  Executables executables_;
  Captures captures_;
};

// What HIP keeps for each thread.
struct ThreadState {
  int device = 0;
  hipError_t last_error = hipSuccess;
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
  bool is_in_host_function = false;  // no HIP calls there
};

ThreadState& this_thread();

}  // namespace hip_portable
