// SPDX-License-Identifier: MIT
//
// Entry points: events.

#include "entry.h"

namespace hip_portable {
namespace {

constexpr unsigned kEventFlags = hipEventBlockingSync | hipEventDisableTiming |
                                 hipEventInterprocess | hipEventDisableSystemFence |
                                 hipEventReleaseToDevice | hipEventReleaseToSystem;

hipError_t create(hipEvent_t* handle, unsigned flags) {
  return with_runtime([&](Runtime& runtime) {
    const bool is_shared_with_timing =
        (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
    if (handle == nullptr || (flags & ~kEventFlags) != 0 || is_shared_with_timing) {
      return hipErrorInvalidValue;
    }
    auto event = std::make_shared<Event>();
    event->device = this_thread().device;
    const hipError_t error = runtime.device(event->device).create_event(flags, &event->mark);
    if (error == hipSuccess) *handle = runtime.events().add(std::move(event));
    return error;
  });
}

// body(Runtime&, Event&)
template <typename Body>
hipError_t with_event(hipEvent_t handle, Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    const std::shared_ptr<Event> event = runtime.events().find(handle);
    return event == nullptr ? hipErrorInvalidHandle : body(runtime, *event);
  });
}

}  // namespace
}  // namespace hip_portable

using hip_portable::Event;
using hip_portable::Runtime;
using hip_portable::Stream;
using hip_portable::with_event;

hipError_t hipEventCreate(hipEvent_t* event) {
  return hip_portable::create(event, hipEventDefault);
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return hip_portable::create(event, flags);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return hip_portable::with_stream(stream, [&](Runtime& runtime, Stream& order) {
    const std::shared_ptr<Event> found = runtime.events().find(event);
    if (found == nullptr || found->device != order.device) return hipErrorInvalidHandle;
    bool is_captured = false;
    const hipError_t error = runtime.captures().record_event(order, *found, &is_captured);
    return error != hipSuccess || is_captured ? error : found->mark->record(*order.work);
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return with_event(event, [](Runtime& runtime, Event& found) {
    hipError_t error = runtime.captures().check_event(found);
    if (error == hipSuccess) error = runtime.captures().check_unrecordable();
    return error != hipSuccess ? error : found.mark->query();
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return with_event(event, [](Runtime& runtime, Event& found) {
    const hipError_t error = runtime.captures().check_event(found);
    return error != hipSuccess ? error : found.mark->synchronize();
  });
}

hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  return hip_portable::with_runtime([&](Runtime& runtime) {
    if (ms == nullptr) return hipErrorInvalidValue;
    const std::shared_ptr<Event> from = runtime.events().find(start);
    const std::shared_ptr<Event> to = runtime.events().find(stop);
    if (from == nullptr || to == nullptr) return hipErrorInvalidHandle;
    hipError_t error = runtime.captures().check_event(*from);
    if (error == hipSuccess) error = runtime.captures().check_event(*to);
    if (error != hipSuccess) return error;
    return to->mark->elapsed_since(*from->mark, ms);
  });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return hip_portable::with_runtime([&](Runtime& runtime) {
    return runtime.events().remove(event) != nullptr ? hipSuccess : hipErrorInvalidHandle;
  });
}
