// SPDX-License-Identifier: MIT
//
// Streams and events of NVIDIA's driver. An object whose context was reset answers
// hipErrorContextIsDestroyed and is not destroyed again: its handle died with the context.
#pragma once

#include <cstdint>
#include <functional>

#include "../device.h"
#include "cuda_context.h"

namespace hip_portable::cuda {

class CudaStream : public DeviceStream {
 public:
  enum class Owner { kThis, kProgram };
  // kThis: the handle is destroyed with the object, unless it is one of the driver's fixed ones.
  CudaStream(ContextHolder& context, Stream handle, Owner owner = Owner::kThis);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Stream handle() const { return handle_; }
  bool is_alive() const final { return is_fixed() || generation_ == context_.generation(); }

  hipError_t copy(void* to, const void* from, std::size_t size, bool is_pageable) override;
  hipError_t copy_indirect(const hipPortableIndirectCopy_t* descriptor) override;
  hipError_t fill(void* to, unsigned char value, std::size_t size) override;
  hipError_t wait_event(DeviceEvent& event) override;
  hipError_t wait_value(const ValueWait& wait) override;
  hipError_t write_value(void* address, std::uint64_t value, ValueWidth width) override;
  hipError_t host_function(std::function<void()> function) override;
  hipError_t launch(const Launch& launch) override;
  hipError_t capture_status(hipStreamCaptureStatus* status, unsigned long long* id) override;
  hipError_t query() override;
  hipError_t synchronize() override;

 private:
  bool is_fixed() const { return handle_ == legacy_stream(); }
  template <class Call>
  hipError_t run(Call call);

  ContextHolder& context_;
  const Stream handle_;
  const Owner owner_;
  const std::uint64_t generation_;
};

class CudaEvent : public DeviceEvent {
 public:
  CudaEvent(ContextHolder& context, Event handle);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  Event handle() const { return handle_; }
  bool is_alive() const { return generation_ == context_.generation(); }

  hipError_t record(DeviceStream& stream) override;
  hipError_t query() override;
  hipError_t synchronize() override;
  hipError_t elapsed_since(DeviceEvent& start, float* milliseconds) override;

 private:
  template <class Call>
  hipError_t run(Call call);

  ContextHolder& context_;
  const Event handle_;
  const std::uint64_t generation_;
};

inline DevicePtr to_device_ptr(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

}  // namespace hip_portable::cuda
