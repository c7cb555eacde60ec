// SPDX-License-Identifier: MIT
//
// What every entry point does around its work: start the runtime, look whether it may be used,
// keep exceptions inside and remember the error for hipGetLastError().
#pragma once

#include <memory>
#include <new>

#include "runtime.h"

namespace hip_portable {

// "Not ready" is no error: programs poll.
inline hipError_t remember(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) this_thread().last_error = error;
  return error;
}

inline hipError_t enter(Runtime** runtime) {
  if (this_thread().is_in_host_function) return hipErrorNotPermitted;
  return Runtime::enter(runtime);
}

// Work that needs the runtime: body(Runtime&).
template <typename Body>
hipError_t with_runtime(Body&& body) {
  try {
    Runtime* runtime = nullptr;
    const hipError_t error = enter(&runtime);
    return remember(error != hipSuccess ? error : body(*runtime));
  } catch (const std::bad_alloc&) {
    return remember(hipErrorOutOfMemory);
  } catch (...) {
    return remember(hipErrorUnknown);
  }
}

// Work of a device by its ordinal: body(Device&).
template <typename Body>
hipError_t with_device(int ordinal, Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.is_device(ordinal) ? body(runtime.device(ordinal)) : hipErrorInvalidDevice;
  });
}

// Work of the thread's current device: body(Device&).
template <typename Body>
hipError_t with_current_device(Body&& body) {
  return with_runtime([&](Runtime& runtime) { return body(runtime.device(this_thread().device)); });
}

// The same for calls that a capture forbids, because no graph could repeat them.
template <typename Body>
hipError_t with_uncaptured_device(Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    const hipError_t error = runtime.captures().check_unrecordable();
    return error != hipSuccess ? error : body(runtime.device(this_thread().device));
  });
}

// Work in a stream: body(Runtime&, Stream&).
template <typename Body>
hipError_t with_stream(hipStream_t handle, Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    std::shared_ptr<Stream> stream;
    const hipError_t error = runtime.find_stream(handle, this_thread().device, &stream);
    return error != hipSuccess ? error : body(runtime, *stream);
  });
}

// Puts work into a stream, or into what the stream captures: work(DeviceStream&).
template <typename Work>
hipError_t queue(Runtime& runtime, Stream& stream, const Work& work) {
  return runtime.captures().queue(stream, *stream.work, work);
}

}  // namespace hip_portable
