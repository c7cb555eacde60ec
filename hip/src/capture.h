// SPDX-License-Identifier: MIT
//
// Stream capture: work that is recorded instead of run. A capture begins in one stream, its origin;
// another stream joins by a wait for an event that was recorded in it. A graph is the recorded work
// in the order of the calls, which keeps every order that the streams and events have asked for.
//
// Whether all branches came back to the origin is seen by counting: each stream of a capture knows
// how much of each other stream's work comes before its own next.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "device.h"
#include "mutex.h"

namespace hip_portable {

struct Event;
struct Stream;

using Work = std::function<hipError_t(DeviceStream&)>;

struct Graph {
  std::vector<Work> work;
};

// By stream of a capture: how many of its operations are known to come before.
using CaptureClock = std::vector<std::size_t>;

struct Capture {
  unsigned long long id = 0;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;                                        // that began it
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;  // None once it has ended
  std::vector<std::weak_ptr<Stream>> streams;                    // the origin first
  CaptureClock recorded;
  std::vector<Work> work;
};

// The place of a stream, or of an event's last record, in a capture.
struct CapturePlace {
  std::shared_ptr<Capture> capture;  // null: in none
  std::size_t index = 0;             // of the stream
  CaptureClock before;
};

// All captures of the process. Guards the places in streams, events and captures.
class Captures {
 public:
  // hipErrorStreamCaptureUnsupported for the null stream, hipErrorIllegalState if it captures.
  hipError_t begin(Stream& stream, hipStreamCaptureMode mode);
  // hipErrorIllegalState, hipErrorStreamCaptureUnmatched and ...WrongThread leave the capture as it
  // is. It ends with a graph or with hipErrorStreamCaptureInvalidated or ...Unjoined.
  hipError_t end(Stream& stream, std::shared_ptr<Graph>* graph);
  // hipErrorStreamCaptureImplicit for the null stream beside a capture that it would join.
  hipError_t tell(Stream& stream, hipStreamCaptureStatus* status, unsigned long long* id);
  // The stream is being destroyed: what began in it ends.
  void leave(Stream& stream);

  // Runs work in a stream, or records it: work(DeviceStream&).
  template <typename Run>
  hipError_t queue(Stream& stream, DeviceStream& device_stream, const Run& run) {
    if (is_used()) {
      bool is_recorded = false;
      const hipError_t error = record(stream, run, &is_recorded);
      if (error != hipSuccess || is_recorded) return error;
    }
    return run(device_stream);
  }
  // An event is recorded, or waited for. *is_captured: that is all there is to do.
  hipError_t record_event(Stream& stream, Event& event, bool* is_captured);
  hipError_t wait_event(Stream& stream, Event& event, bool* is_captured);

  // Each of these spoils the captures that forbid the call, and then answers
  // hipErrorStreamCaptureUnsupported or as named.
  //
  // Calls that no graph could repeat: allocations, and what waits without saying for what.
  hipError_t check_unrecordable();
  // Calls that need the stream itself. hipErrorStreamCaptureImplicit for the null stream.
  hipError_t check_stream(Stream& stream);
  hipError_t check_null_stream(int device);
  hipError_t check_device(int device);
  // hipErrorCapturedEvent
  hipError_t check_event(const Event& event);

 private:
  // Until the first capture nothing here costs anything.
  bool is_used() const { return is_used_.load(std::memory_order_acquire); }

  hipError_t record(Stream& stream, Work work, bool* is_recorded);
  // hipErrorStreamCaptureImplicit if the null stream of the device has to wait for a capture.
  hipError_t check_implicit(int device, bool spoils) HIP_PORTABLE_REQUIRES(mutex_);
  void finish(Capture& capture) HIP_PORTABLE_REQUIRES(mutex_);

  std::atomic<bool> is_used_{false};
  Mutex mutex_;
  unsigned long long last_id_ HIP_PORTABLE_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Capture>> active_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable
