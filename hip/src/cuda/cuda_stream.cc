// SPDX-License-Identifier: MIT
//
// Streams and events: each call is one call of the driver inside the device's context.

#include "cuda_stream.h"

#include <limits>
#include <memory>
#include <utility>

#include "cuda_module.h"

namespace hip_portable::cuda {

CudaStream::CudaStream(ContextHolder& context, Stream handle, Owner owner)
    : context_(context), handle_(handle), owner_(owner), generation_(context.generation()) {}

CudaStream::~CudaStream() {
  if (owner_ == Owner::kProgram || is_fixed() || !is_alive()) return;
  // Nobody is left to tell an error to; the driver finishes what is queued.
  static_cast<void>(context_.run([this] { return context_.driver().stream_destroy(handle_); }));
}

template <class Call>
hipError_t CudaStream::run(Call call) {
  return is_alive() ? context_.run(call) : hipErrorContextIsDestroyed;
}

hipError_t CudaStream::copy(void* to, const void* from, std::size_t size, bool /*is_pageable*/) {
  return run([&] {
    return context_.driver().memcpy_async(to_device_ptr(to), to_device_ptr(from), size, handle_);
  });
}

hipError_t CudaStream::copy_indirect(const hipPortableIndirectCopy_t* descriptor) {
  return run([&] { return context_.copy_kernel().launch(context_.driver(), handle_, descriptor); });
}

hipError_t CudaStream::fill(void* to, unsigned char value, std::size_t size) {
  return run(
      [&] { return context_.driver().memset_async(to_device_ptr(to), value, size, handle_); });
}

hipError_t CudaStream::wait_event(DeviceEvent& event) {
  const CudaEvent& other = static_cast<CudaEvent&>(event);
  if (!other.is_alive()) return hipErrorContextIsDestroyed;
  return run([&] { return context_.driver().stream_wait_event(handle_, other.handle(), 0); });
}

hipError_t CudaStream::wait_value(const ValueWait& wait) {
  const bool is_wide = wait.width == ValueWidth::k64;
  const std::uint64_t all = is_wide ? std::numeric_limits<std::uint64_t>::max()
                                    : std::numeric_limits<std::uint32_t>::max();
  // The driver knows no mask.
  if ((wait.mask & all) != all) return hipErrorNotSupported;
  const DevicePtr address = to_device_ptr(wait.address);
  return run([&] {
    const Driver& driver = context_.driver();
    return is_wide ? driver.stream_wait_value64(handle_, address, wait.value, wait.condition)
                   : driver.stream_wait_value32(
                         handle_, address, static_cast<std::uint32_t>(wait.value), wait.condition);
  });
}

hipError_t CudaStream::write_value(void* address, std::uint64_t value, ValueWidth width) {
  return run([&] {
    const Driver& driver = context_.driver();
    const DevicePtr where = to_device_ptr(address);
    return width == ValueWidth::k64
               ? driver.stream_write_value64(handle_, where, value, 0)
               : driver.stream_write_value32(handle_, where, static_cast<std::uint32_t>(value), 0);
  });
}

// Lost where the driver never gets there.
hipError_t CudaStream::host_function(std::function<void()> function) {
  using Call = std::function<void()>;
  const auto run_once = [](void* data) { (*std::unique_ptr<Call>(static_cast<Call*>(data)))(); };
  auto owned = std::make_unique<Call>(std::move(function));
  const hipError_t error =
      run([&] { return context_.driver().launch_host_function(handle_, run_once, owned.get()); });
  if (error == hipSuccess) owned.release();
  return error;
}

hipError_t CudaStream::launch(const Launch& launch) {
  DriverExtra extra;
  if (launch.extra != nullptr && !extra.read(launch.extra)) return hipErrorInvalidValue;
  const dim3& grid = launch.grid;
  const dim3& block = launch.block;
  return run([&] {
    return context_.driver().launch_kernel(static_cast<Function>(launch.kernel), grid.x, grid.y,
                                           grid.z, block.x, block.y, block.z, launch.shared_bytes,
                                           handle_, launch.parameters,
                                           launch.extra != nullptr ? extra.pairs() : nullptr);
  });
}

// HIP's states have the driver's numbers. The driver's id is of no use here: 0, which no capture of
// this runtime has.
hipError_t CudaStream::capture_status(hipStreamCaptureStatus* status, unsigned long long* id) {
  int state = 0;
  const hipError_t error =
      run([&] { return context_.driver().stream_is_capturing(handle_, &state); });
  if (error != hipSuccess) return error;
  *status = static_cast<hipStreamCaptureStatus>(state);
  if (id != nullptr && *status == hipStreamCaptureStatusActive) *id = 0;
  return hipSuccess;
}

hipError_t CudaStream::query() {
  return run([&] { return context_.driver().stream_query(handle_); });
}

hipError_t CudaStream::synchronize() {
  return run([&] { return context_.driver().stream_synchronize(handle_); });
}

CudaEvent::CudaEvent(ContextHolder& context, Event handle)
    : context_(context), handle_(handle), generation_(context.generation()) {}

CudaEvent::~CudaEvent() {
  if (!is_alive()) return;
  static_cast<void>(context_.run([this] { return context_.driver().event_destroy(handle_); }));
}

template <class Call>
hipError_t CudaEvent::run(Call call) {
  return is_alive() ? context_.run(call) : hipErrorContextIsDestroyed;
}

hipError_t CudaEvent::record(DeviceStream& stream) {
  const Stream target = static_cast<CudaStream&>(stream).handle();
  return run([&] { return context_.driver().event_record(handle_, target); });
}

hipError_t CudaEvent::query() {
  return run([&] { return context_.driver().event_query(handle_); });
}

hipError_t CudaEvent::synchronize() {
  return run([&] { return context_.driver().event_synchronize(handle_); });
}

hipError_t CudaEvent::elapsed_since(DeviceEvent& start, float* milliseconds) {
  const CudaEvent& first = static_cast<CudaEvent&>(start);
  if (!first.is_alive()) return hipErrorContextIsDestroyed;
  return run(
      [&] { return context_.driver().event_elapsed_time(milliseconds, first.handle(), handle_); });
}

}  // namespace hip_portable::cuda
