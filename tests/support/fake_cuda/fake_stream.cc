// SPDX-License-Identifier: MIT
//
// Fake driver: streams, host functions, wait- and write-values.

#include <utility>

#include "fake_engine.h"

namespace {

CUresult queue_into(CUstream handle, fake_cuda::Step step) {
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return fake_cuda::queue(stream, std::move(step));
}

// A device that may not use an address finds that out when it gets there.
bool is_open(CUdeviceptr address, std::size_t size, int device, int access) {
  if (fake_cuda::is_virtual_open(address, size, device, access)) return true;
  fake_cuda::fault(CUDA_ERROR_LAUNCH_FAILED);
  return false;
}

template <class Value>
bool is_reached(Value now, Value wanted, unsigned flags) {
  switch (flags & 3U) {
    case 0:
      return static_cast<std::make_signed_t<Value>>(now - wanted) >= 0;
    case 1:
      return now == wanted;
    case 2:
      return (now & wanted) != 0;
    default:
      return static_cast<Value>(~(now | wanted)) != 0;
  }
}

template <class Value>
Value* value_at(CUdeviceptr address) {
  return reinterpret_cast<Value*>(fake_cuda::view(address));
}

template <class Value>
CUresult wait_value(CUstream stream, CUdeviceptr address, Value value, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (fake_cuda::setting("FAKE_CUDA_NO_WAIT_VALUE", 0) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const int device = fake_cuda::current_context()->device;
  return queue_into(stream, [=] {
    if (!is_open(address, sizeof(Value), device, 1)) return true;
    return is_reached(__atomic_load_n(value_at<Value>(address), __ATOMIC_ACQUIRE), value, flags);
  });
}

template <class Value>
CUresult write_value(CUstream stream, CUdeviceptr address, Value value) {
  FAKE_CUDA_NEED_CONTEXT();
  const int device = fake_cuda::current_context()->device;
  return queue_into(stream, [=] {
    if (!is_open(address, sizeof(Value), device, 3)) return true;
    __atomic_store_n(value_at<Value>(address), value, __ATOMIC_RELEASE);
    return true;
  });
}

}  // namespace

FAKE_CUDA_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  FAKE_CUDA_NEED_CONTEXT();
  if (stream == nullptr || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  *stream = fake_cuda::make_stream(flags, priority).get();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuStreamDestroy_v2(CUstream stream) {
  FAKE_CUDA_NEED_CONTEXT();
  return fake_cuda::forget_stream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// Needs no current context: the stream has its own. Looks into what it is given, as a driver does.
FAKE_CUDA_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  if (!fake_cuda::is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const CUcontext volatile& inside = stream->context;
  *context = inside;
  return fake_cuda::find_stream(stream) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_CUDA_API CUresult cuStreamIsCapturing(CUstream handle, int* status) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = stream->capture_status;
  return CUDA_SUCCESS;
}

// For tests: what cuStreamIsCapturing answers.
FAKE_CUDA_API void fakeCudaSetCaptureStatus(CUstream stream, int status) {
  stream->capture_status = status;
}

FAKE_CUDA_API CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  if (!fake_cuda::is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (mode == nullptr || *mode < 0 || *mode > 2) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuStreamQuery(CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return fake_cuda::is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

FAKE_CUDA_API CUresult cuStreamSynchronize(CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  return stream != nullptr ? fake_cuda::wait_for(stream) : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_CUDA_API CUresult cuLaunchHostFunc(CUstream handle, void (*function)(void*), void* data) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return fake_cuda::queue_host_function(stream, [=] { function(data); });
}

FAKE_CUDA_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address,
                                              std::uint32_t value, unsigned flags) {
  return wait_value(stream, address, value, flags);
}

FAKE_CUDA_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address,
                                              std::uint64_t value, unsigned flags) {
  return wait_value(stream, address, value, flags);
}

FAKE_CUDA_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address,
                                               std::uint32_t value, unsigned /*flags*/) {
  return write_value(stream, address, value);
}

FAKE_CUDA_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address,
                                               std::uint64_t value, unsigned /*flags*/) {
  return write_value(stream, address, value);
}
