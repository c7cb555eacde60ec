// SPDX-License-Identifier: MIT
//
// The rules of captures: what joins, what is recorded, what spoils.

#include "capture.h"

#include <algorithm>
#include <utility>

#include "runtime.h"

namespace hip_portable {
namespace {

bool is_null_stream(const Stream& stream) { return stream.owned == nullptr; }

hipError_t spoil(Capture& capture, hipError_t error) {
  if (capture.status == hipStreamCaptureStatusActive) {
    capture.status = hipStreamCaptureStatusInvalidated;
  }
  return error;
}

bool has_stream_on(const Capture& capture, int device, bool only_blocking) {
  return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const auto& weak) {
    const std::shared_ptr<Stream> stream = weak.lock();
    if (stream == nullptr || stream->device != device) return false;
    return !only_blocking || (stream->flags & hipStreamNonBlocking) == 0;
  });
}

void raise(CaptureClock* clock, const CaptureClock& other) {
  if (clock->size() < other.size()) clock->resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) (*clock)[i] = std::max((*clock)[i], other[i]);
}

bool is_forbidden(const Capture& capture, hipStreamCaptureMode thread_mode) {
  if (thread_mode == hipStreamCaptureModeRelaxed) return false;
  const bool is_own = capture.thread == std::this_thread::get_id();
  if (is_own && capture.mode != hipStreamCaptureModeRelaxed) return true;
  return thread_mode == hipStreamCaptureModeGlobal && capture.mode == hipStreamCaptureModeGlobal;
}

}  // namespace

hipError_t Captures::begin(Stream& stream, hipStreamCaptureMode mode) {
  if (is_null_stream(stream)) return hipErrorStreamCaptureUnsupported;
  const MutexLock lock(mutex_);
  if (stream.place.capture != nullptr) return hipErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = ++last_id_;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->streams.push_back(stream.weak_from_this());
  capture->recorded.push_back(0);
  active_.push_back(capture);
  stream.place = {std::move(capture), 0, {0}};
  is_used_.store(true, std::memory_order_release);
  return hipSuccess;
}

// The events keep the capture, as one that has ended.
void Captures::finish(Capture& capture) {
  for (const std::weak_ptr<Stream>& weak : capture.streams) {
    const std::shared_ptr<Stream> stream = weak.lock();
    if (stream != nullptr) stream->place = {};
  }
  capture.status = hipStreamCaptureStatusNone;
  capture.streams.clear();
  capture.work.clear();
  const auto is_it = [&](const std::shared_ptr<Capture>& other) { return other.get() == &capture; };
  active_.erase(std::remove_if(active_.begin(), active_.end(), is_it), active_.end());
}

hipError_t Captures::end(Stream& stream, std::shared_ptr<Graph>* graph) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<Capture> capture = stream.place.capture;
  if (capture == nullptr) return hipErrorIllegalState;
  if (stream.place.index != 0) return hipErrorStreamCaptureUnmatched;
  const bool is_own = capture->thread == std::this_thread::get_id();
  if (!is_own && capture->mode != hipStreamCaptureModeRelaxed) {
    return hipErrorStreamCaptureWrongThread;
  }
  hipError_t error = hipSuccess;
  CaptureClock before = stream.place.before;
  before.resize(capture->recorded.size());
  before[0] = capture->recorded[0];
  if (capture->status != hipStreamCaptureStatusActive) {
    error = hipErrorStreamCaptureInvalidated;
  } else if (before != capture->recorded) {
    error = hipErrorStreamCaptureUnjoined;
  } else {
    *graph = std::make_shared<Graph>(Graph{std::move(capture->work)});
  }
  finish(*capture);
  return error;
}

hipError_t Captures::tell(Stream& stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  const MutexLock lock(mutex_);
  if (is_null_stream(stream)) {
    const hipError_t error = check_implicit(stream.device, false);
    if (error != hipSuccess) return error;
  }
  const std::shared_ptr<Capture>& capture = stream.place.capture;
  *status = capture != nullptr ? capture->status : hipStreamCaptureStatusNone;
  if (id != nullptr && *status == hipStreamCaptureStatusActive) *id = capture->id;
  return hipSuccess;
}

void Captures::leave(Stream& stream) {
  if (!is_used()) return;
  const MutexLock lock(mutex_);
  const std::shared_ptr<Capture> capture = stream.place.capture;
  if (capture != nullptr && stream.place.index == 0) finish(*capture);
}

hipError_t Captures::record(Stream& stream, Work work, bool* is_recorded) {
  const MutexLock lock(mutex_);
  Capture* const capture = stream.place.capture.get();
  if (capture == nullptr) {
    return is_null_stream(stream) ? check_implicit(stream.device, true) : hipSuccess;
  }
  if (capture->status != hipStreamCaptureStatusActive) return hipErrorStreamCaptureInvalidated;
  capture->work.push_back(std::move(work));
  CapturePlace& place = stream.place;
  place.before.resize(std::max(place.before.size(), place.index + 1));
  place.before[place.index] = ++capture->recorded[place.index];
  *is_recorded = true;
  return hipSuccess;
}

hipError_t Captures::record_event(Stream& stream, Event& event, bool* is_captured) {
  if (!is_used()) return hipSuccess;
  const MutexLock lock(mutex_);
  const std::shared_ptr<Capture>& capture = stream.place.capture;
  if (capture == nullptr && is_null_stream(stream)) {
    const hipError_t error = check_implicit(stream.device, true);
    if (error != hipSuccess) return error;
  }
  if (capture != nullptr && capture->status != hipStreamCaptureStatusActive) {
    return hipErrorStreamCaptureInvalidated;
  }
  event.place = stream.place;
  *is_captured = capture != nullptr;
  return hipSuccess;
}

hipError_t Captures::wait_event(Stream& stream, Event& event, bool* is_captured) {
  if (!is_used()) return hipSuccess;
  const MutexLock lock(mutex_);
  Capture* const own = stream.place.capture.get();
  const std::shared_ptr<Capture>& other = event.place.capture;
  if (own != nullptr && own->status != hipStreamCaptureStatusActive) {
    return hipErrorStreamCaptureInvalidated;
  }
  if (other == nullptr) {
    if (own != nullptr) return spoil(*own, hipErrorStreamCaptureIsolation);
    return is_null_stream(stream) ? check_implicit(stream.device, true) : hipSuccess;
  }
  if (other->status == hipStreamCaptureStatusNone) return hipErrorCapturedEvent;
  if (other->status == hipStreamCaptureStatusInvalidated) return hipErrorStreamCaptureInvalidated;
  if (is_null_stream(stream)) return spoil(*other, hipErrorStreamCaptureImplicit);
  if (own != nullptr && own != other.get()) {
    (void)spoil(*own, hipErrorStreamCaptureMerge);
    return spoil(*other, hipErrorStreamCaptureMerge);
  }
  if (own == nullptr) {
    stream.place = {other, other->streams.size(), {}};
    other->streams.push_back(stream.weak_from_this());
    other->recorded.push_back(0);
  }
  raise(&stream.place.before, event.place.before);
  *is_captured = true;
  return hipSuccess;
}

hipError_t Captures::check_unrecordable() {
  if (!is_used()) return hipSuccess;
  hipError_t error = hipSuccess;
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<Capture>& capture : active_) {
    if (is_forbidden(*capture, this_thread().capture_mode)) {
      error = spoil(*capture, hipErrorStreamCaptureUnsupported);
    }
  }
  return error;
}

hipError_t Captures::check_implicit(int device, bool spoils) {
  hipError_t error = hipSuccess;
  for (const std::shared_ptr<Capture>& capture : active_) {
    if (!has_stream_on(*capture, device, true)) continue;
    error = hipErrorStreamCaptureImplicit;
    if (spoils) (void)spoil(*capture, error);
  }
  return error;
}

hipError_t Captures::check_stream(Stream& stream) {
  if (!is_used()) return hipSuccess;
  const MutexLock lock(mutex_);
  if (is_null_stream(stream)) return check_implicit(stream.device, true);
  Capture* const capture = stream.place.capture.get();
  return capture == nullptr ? hipSuccess : spoil(*capture, hipErrorStreamCaptureUnsupported);
}

hipError_t Captures::check_null_stream(int device) {
  if (!is_used()) return hipSuccess;
  const MutexLock lock(mutex_);
  return check_implicit(device, true);
}

hipError_t Captures::check_device(int device) {
  if (!is_used()) return hipSuccess;
  hipError_t error = hipSuccess;
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<Capture>& capture : active_) {
    if (has_stream_on(*capture, device, false)) {
      error = spoil(*capture, hipErrorStreamCaptureUnsupported);
    }
  }
  return error;
}

hipError_t Captures::check_event(const Event& event) {
  if (!is_used()) return hipSuccess;
  const MutexLock lock(mutex_);
  if (event.place.capture == nullptr) return hipSuccess;
  return spoil(*event.place.capture, hipErrorCapturedEvent);
}

}  // namespace hip_portable
