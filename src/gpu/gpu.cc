// SPDX-License-Identifier: MIT
//
// Each operation enters the runtime in use, makes its calls, and turns the HIP code into a value.
#include "gpu/gpu.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "gpu/guards.h"
#include "gpu/numa.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

using gpu::HipTable;
using gpu::Runtime;

hipError_t call_direct_io(const HipTable& hip, const DirectIo& io, uint64_t* copied,
                          int32_t* status) {
  if (io.is_buffered) {
    return hip.PortableFileRead(io.fd, io.address, io.size, io.offset, copied, status);
  }
  hipAmdFileHandle_t handle = {};
  handle.fd = io.fd;
  const hipAmdFileRead_t call = io.is_write ? hip.AmdFileWrite : hip.AmdFileRead;
  return call(handle, io.address, io.size, io.offset, copied, status);
}

// Ask until it is done; others may have the processor meanwhile.
template <class Query>
Status spin(Query&& query) {
  for (;;) {
    const hipError_t state = query();
    if (state != hipErrorNotReady) return status_of(state);
    sched_yield();
  }
}

MemoryKind kind_of(const hipPointerAttribute_t& attributes) {
  switch (attributes.type) {
    case hipMemoryTypeDevice:
      return MemoryKind::kDevice;
    case hipMemoryTypeManaged:
      return MemoryKind::kManaged;
    case hipMemoryTypeHost:
      return MemoryKind::kPinned;
    default:
      return MemoryKind::kHost;
  }
}

// Pinned and managed ranges may be unknown to hipMemGetAddressRange; then nobody knows their end.
size_t bytes_left(const HipTable& hip, const void* pointer, MemoryKind kind, hipError_t* error) {
  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  *error = hip.MemGetAddressRange(&base, &size, const_cast<void*>(pointer));
  if (*error == hipSuccess) {
    const auto start = reinterpret_cast<uintptr_t>(base);
    return size - (reinterpret_cast<uintptr_t>(pointer) - start);
  }
  if (kind != MemoryKind::kDevice) *error = hipSuccess;
  return SIZE_MAX;
}

// Old HIP runtimes crash when the first call of a thread is hipAmdFileRead.
void init_thread(const Runtime& runtime) {
  thread_local const Runtime* initialised = nullptr;
  if (initialised != &runtime && runtime.hip.Init(0) == hipSuccess) initialised = &runtime;
}

Result<const Runtime*> enter(const Runtime* runtime) {
  if (runtime == nullptr) return Error::from_hip(hipErrorNotInitialized);
  if (runtime->is_gone.load(std::memory_order_acquire)) return Error::of(hipFileDriverClosing);
  return runtime;
}

Result<PointerInfo> ask(const Runtime* runtime, const void* pointer) {
  const Result<const Runtime*> entered = enter(runtime);
  if (!entered.ok()) return entered.error();
  const HipTable& hip = runtime->hip;
  const WaitMark mark("the HIP runtime to know a pointer");
  const LastErrorGuard guard(hip);
  hipPointerAttribute_t attributes = {};
  hipError_t error = hip.PointerGetAttributes(&attributes, pointer);
  if (error != hipSuccess) return Error::from_hip(error);
  PointerInfo info;
  info.runtime = runtime;
  info.kind = kind_of(attributes);
  info.bytes_left = SIZE_MAX;
  if (info.kind == MemoryKind::kHost) return info;
  info.device = attributes.device < 0 ? 0 : attributes.device;
  info.bytes_left = bytes_left(hip, pointer, info.kind, &error);
  if (error != hipSuccess) return Error::from_hip(error);
  return info;
}

Result<std::unique_ptr<CopyStream>> make_stream(const Runtime* runtime, int device) {
  const Result<const Runtime*> entered = enter(runtime);
  if (!entered.ok()) return entered.error();
  const HipTable& hip = runtime->hip;
  const WaitMark mark("a stream for copies");
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const DeviceGuard current(hip, device);
  if (current.error() != hipSuccess) return Error::from_hip(current.error());
  int least = 0, greatest = 0;
  if (hip.DeviceGetStreamPriorityRange(&least, &greatest) != hipSuccess) greatest = 0;
  auto stream = std::make_unique<CopyStream>();
  stream->runtime = runtime;
  stream->device = device;
  stream->numa_node = gpu::numa_node_of(*runtime, device);
  const hipError_t error =
      hip.StreamCreateWithPriority(&stream->stream, hipStreamNonBlocking, greatest);
  if (error != hipSuccess) return Error::from_hip(error);
  return stream;
}

}  // namespace

// The runtime that was bound first is asked first: mostly it is the only one, and looking for
// others takes a lock of the dynamic loader.
Result<PointerInfo> Gpu::query(const void* pointer) {
  const Result<const Runtime*> first = gpu::bind();
  if (!first.ok()) return first.error();
  const Result<PointerInfo> info = ask(first.value(), pointer);
  if (info.ok() && info.value().kind != MemoryKind::kHost) return info;
  const Result<const Runtime*> owner = gpu::bind(pointer);
  if (!owner.ok() || owner.value() == first.value()) return info;
  return ask(owner.value(), pointer);
}

bool Gpu::has_direct_io(const Runtime* runtime) const {
  return runtime != nullptr && runtime->hip.AmdFileRead != nullptr;
}

bool Gpu::has_buffered_read(const Runtime* runtime) {
  return runtime != nullptr && runtime->hip.PortableFileRead != nullptr;
}

bool Gpu::offers_direct_io() {
  const Result<const Runtime*> runtime = gpu::bind();
  return runtime.ok() && has_direct_io(runtime.value());
}

DirectResult Gpu::direct_io(const Runtime* runtime, int device, const DirectIo& io) {
  const Result<const Runtime*> entered = enter(runtime);
  if (!entered.ok()) return {0, entered.error()};
  const HipTable& hip = runtime->hip;
  const LastErrorGuard errors(hip);
  init_thread(*runtime);
  const DeviceGuard current(hip, device);
  if (current.error() != hipSuccess) return {0, Error::from_hip(current.error())};
  uint64_t copied = 0;
  int32_t status = 0;
  const WaitMark mark("the direct file I/O of the HIP runtime");
  const hipError_t error = call_direct_io(hip, io, &copied, &status);
  DirectResult result;
  if (status != 0) {  // an errno of either sign, and looked at first
    result.error = Error::from_errno(std::abs(status));
    result.done = copied <= io.size ? static_cast<size_t>(copied) : 0;
  } else if (error != hipSuccess) {
    result.error = Error::from_hip(error);
  } else {
    result.done = std::min(static_cast<size_t>(copied), io.size);
  }
  return result;
}

Result<StreamLease> Gpu::lease_stream(const Runtime* runtime, int device, bool is_polled) {
  std::unique_ptr<CopyStream> stream = stock_->take(runtime, device);
  if (!stream) {
    Result<std::unique_ptr<CopyStream>> made = make_stream(runtime, device);
    if (!made.ok()) return made.error();
    stream = std::move(made.value());
  }
  stream->is_polled = is_polled;
  return StreamLease(stock_.get(), std::move(stream));
}

Status Gpu::copy_async(CopyStream& stream, void* to, const void* from, size_t size,
                       hipMemcpyKind kind) {
  const Result<const Runtime*> entered = enter(stream.runtime);
  if (!entered.ok()) return entered.error();
  const WaitMark mark("a copy to be queued");
  const LastErrorGuard errors(entered.value()->hip);
  return status_of(entered.value()->hip.MemcpyAsync(to, from, size, kind, stream.stream));
}

Status Gpu::record(CopyStream& stream, size_t index) {
  const Result<const Runtime*> entered = enter(stream.runtime);
  if (!entered.ok()) return entered.error();
  const HipTable& hip = entered.value()->hip;
  const LastErrorGuard errors(hip);
  while (stream.events.size() <= index) {
    const RelaxedCapture capture(hip);
    const DeviceGuard current(hip, stream.device);
    if (current.error() != hipSuccess) return Error::from_hip(current.error());
    hipEvent_t event = nullptr;
    const unsigned flags = hipEventDisableTiming | hipEventBlockingSync;
    const hipError_t error = hip.EventCreateWithFlags(&event, flags);
    if (error != hipSuccess) return Error::from_hip(error);
    stream.events.push_back(event);
  }
  return status_of(hip.EventRecord(stream.events[index], stream.stream));
}

bool Gpu::is_reached(CopyStream& stream, size_t index) {
  const Result<const Runtime*> entered = enter(stream.runtime);
  if (!entered.ok()) return false;
  const HipTable& hip = entered.value()->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  return hip.EventQuery(stream.events[index]) == hipSuccess;
}

Status Gpu::wait(CopyStream& stream, size_t index) {
  const Result<const Runtime*> entered = enter(stream.runtime);
  if (!entered.ok()) return entered.error();
  const HipTable& hip = entered.value()->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const WaitMark mark("a copy between host and device");
  if (stream.is_polled) return spin([&] { return hip.EventQuery(stream.events[index]); });
  return status_of(hip.EventSynchronize(stream.events[index]));
}

Status Gpu::synchronize(CopyStream& stream) {
  const Result<const Runtime*> entered = enter(stream.runtime);
  if (!entered.ok()) return entered.error();
  const HipTable& hip = entered.value()->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const WaitMark mark("the copies of a request");
  if (stream.is_polled) return spin([&] { return hip.StreamQuery(stream.stream); });
  return status_of(hip.StreamSynchronize(stream.stream));
}

Status Gpu::pin(void* memory, size_t size) {
  const Result<const Runtime*> entered = enter(gpu::first_bound());
  if (!entered.ok()) return entered.error();
  const WaitMark mark("the registration of host memory");
  const LastErrorGuard errors(entered.value()->hip);
  const RelaxedCapture capture(entered.value()->hip);
  return status_of(entered.value()->hip.HostRegister(memory, size, hipHostRegisterPortable));
}

void Gpu::unpin(void* memory) {
  const Result<const Runtime*> entered = enter(gpu::first_bound());
  if (!entered.ok()) return;
  const WaitMark mark("the end of a registration of host memory");
  const LastErrorGuard errors(entered.value()->hip);
  const RelaxedCapture capture(entered.value()->hip);
  (void)entered.value()->hip.HostUnregister(memory);
}

}  // namespace hipfile
