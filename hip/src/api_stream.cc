// SPDX-License-Identifier: MIT
//
// Entry points: streams, host functions and values in memory that streams wait for.

#include <memory>

#include "entry.h"
#include "pointer_check.h"

namespace hip_portable {
namespace {

hipError_t create(hipStream_t* handle, unsigned flags, int priority) {
  return with_runtime([&](Runtime& runtime) {
    const bool is_known = flags == hipStreamDefault || flags == hipStreamNonBlocking;
    if (handle == nullptr || !is_known) return hipErrorInvalidValue;
    std::shared_ptr<Stream> stream;
    const hipError_t error = runtime.create_stream(this_thread().device, flags, priority, &stream);
    if (error == hipSuccess) *handle = runtime.streams().add(std::move(stream));
    return error;
  });
}

// A function of the program, on its way through a stream.
struct HostCall {
  hipHostFn_t function = nullptr;
  hipStreamCallback_t callback = nullptr;  // instead of function
  hipStream_t stream = nullptr;
  void* user_data = nullptr;
};

void run_host_call(const HostCall& call) {
  this_thread().is_in_host_function = true;
  if (call.callback != nullptr) {
    call.callback(call.stream, hipSuccess, call.user_data);
  } else {
    call.function(call.user_data);
  }
  this_thread().is_in_host_function = false;
}

hipError_t queue_host_call(const HostCall& call) {
  return with_stream(call.stream, [&](Runtime& runtime, Stream& stream) {
    if (call.function == nullptr && call.callback == nullptr) return hipErrorInvalidValue;
    // A callback belongs to this one moment of its stream: no graph repeats it.
    const hipError_t error =
        call.callback != nullptr ? runtime.captures().check_stream(stream) : hipSuccess;
    if (error != hipSuccess) return error;
    return queue(runtime, stream, [call](DeviceStream& work) {
      return work.host_function([call] { run_host_call(call); });
    });
  });
}

std::size_t bytes_of(ValueWidth width) { return width == ValueWidth::k32 ? 4 : 8; }

hipError_t queue_wait(hipStream_t handle, const ValueWait& wait) {
  return with_stream(handle, [&](Runtime& runtime, Stream& stream) {
    if (!runtime.settings().has_wait_values) return hipErrorNotSupported;
    if (wait.condition > hipStreamWaitValueNor) return hipErrorInvalidValue;
    const hipError_t error = check_value(runtime.device(stream.device), wait.address,
                                         bytes_of(wait.width), hipMemAccessFlagsProtRead);
    if (error != hipSuccess) return error;
    return queue(runtime, stream, [wait](DeviceStream& work) { return work.wait_value(wait); });
  });
}

struct ValueWrite {
  void* address = nullptr;
  std::uint64_t value = 0;
  unsigned flags = 0;
  ValueWidth width = ValueWidth::k32;
};

hipError_t queue_write(hipStream_t handle, const ValueWrite& write) {
  return with_stream(handle, [&](Runtime& runtime, Stream& stream) {
    if (!runtime.settings().has_wait_values) return hipErrorNotSupported;
    if (write.flags != hipStreamWriteValueDefault) return hipErrorInvalidValue;
    const hipError_t error = check_value(runtime.device(stream.device), write.address,
                                         bytes_of(write.width), hipMemAccessFlagsProtReadWrite);
    if (error != hipSuccess) return error;
    return queue(runtime, stream, [write](DeviceStream& work) {
      return work.write_value(write.address, write.value, write.width);
    });
  });
}

}  // namespace
}  // namespace hip_portable

using hip_portable::Device;
using hip_portable::Runtime;
using hip_portable::Stream;
using hip_portable::ValueWidth;
using hip_portable::with_runtime;
using hip_portable::with_stream;

hipError_t hipStreamCreate(hipStream_t* stream) {
  return hip_portable::create(stream, hipStreamDefault, 0);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return hip_portable::create(stream, flags, 0);
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return hip_portable::create(stream, flags, priority);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return with_runtime([&](Runtime& runtime) {
    const std::shared_ptr<Stream> removed = runtime.streams().remove(stream);
    if (removed == nullptr) return hipErrorInvalidHandle;
    runtime.captures().leave(*removed);
    return hipSuccess;
  });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return with_stream(stream, [](Runtime& runtime, Stream& found) {
    const hipError_t error = runtime.captures().check_stream(found);
    return error != hipSuccess ? error : found.work->query();
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return with_stream(stream, [](Runtime& runtime, Stream& found) {
    const hipError_t error = runtime.captures().check_stream(found);
    return error != hipSuccess ? error : found.work->synchronize();
  });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return with_stream(stream, [&](Runtime& runtime, Stream& found) {
    if (flags != hipEventWaitDefault) return hipErrorInvalidValue;
    const auto mark = runtime.events().find(event);
    if (mark == nullptr) return hipErrorInvalidHandle;
    bool is_captured = false;
    const hipError_t error = runtime.captures().wait_event(found, *mark, &is_captured);
    return error != hipSuccess || is_captured ? error : found.work->wait_event(*mark->mark);
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return with_stream(stream, [&](Runtime&, Stream& found) {
    if (flags == nullptr) return hipErrorInvalidValue;
    *flags = found.flags;
    return hipSuccess;
  });
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return with_stream(stream, [&](Runtime&, Stream& found) {
    if (device == nullptr) return hipErrorInvalidValue;
    *device = found.device;
    return hipSuccess;
  });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int flags,
                                uint32_t mask) {
  // A mask of all ones stays one when it is widened: NVIDIA's driver knows no other.
  const uint64_t wide = mask == UINT32_MAX ? UINT64_MAX : mask;
  return hip_portable::queue_wait(stream, {ptr, value, wide, flags, ValueWidth::k32});
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int flags,
                                uint64_t mask) {
  return hip_portable::queue_wait(stream, {ptr, value, mask, flags, ValueWidth::k64});
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* ptr, uint32_t value,
                                 unsigned int flags) {
  return hip_portable::queue_write(stream, {ptr, value, flags, ValueWidth::k32});
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* ptr, uint64_t value,
                                 unsigned int flags) {
  return hip_portable::queue_write(stream, {ptr, value, flags, ValueWidth::k64});
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void* userData) {
  return hip_portable::queue_host_call({fn, nullptr, stream, userData});
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* userData,
                                unsigned int flags) {
  // No flag exists: with one the call is as wrong as without a callback.
  const hipStreamCallback_t wanted = flags == 0 ? callback : nullptr;
  return hip_portable::queue_host_call({nullptr, wanted, stream, userData});
}
