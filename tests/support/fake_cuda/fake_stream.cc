// SPDX-License-Identifier: MIT
//
// Fake driver: streams, events, host functions, wait- and write-values. Whatever is put into a
// stream is done when the call returns, which every order of a real device allows.

#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "fake_cuda.h"

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  CUcontext context = nullptr;
  int capture_status = 0;
};
struct CUevent_st {
  bool has_timing = true;
  bool is_recorded = false;
  std::chrono::steady_clock::time_point time;
};
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;

namespace {

std::mutex handles_mutex;
std::set<const void*>& handles() {
  static auto* all = new std::set<const void*>;
  return *all;
}

bool is_known(const void* handle) {
  const std::lock_guard<std::mutex> lock(handles_mutex);
  return handles().count(handle) != 0;
}

// The null stream, its name and the thread's own stream are always there.
bool is_stream(CUstream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2 || is_known(stream);
}

void remember(const void* handle) {
  const std::lock_guard<std::mutex> lock(handles_mutex);
  handles().insert(handle);
}

bool forget(const void* handle) {
  const std::lock_guard<std::mutex> lock(handles_mutex);
  return handles().erase(handle) == 1;
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

// A wait that is not over yet would block the caller, so it is refused.
template <class Value>
CUresult wait_value(CUstream stream, CUdeviceptr address, Value value, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (!is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  const Value now = __atomic_load_n(reinterpret_cast<Value*>(address), __ATOMIC_ACQUIRE);
  return is_reached(now, value, flags) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

template <class Value>
CUresult write_value(CUstream stream, CUdeviceptr address, Value value) {
  FAKE_CUDA_NEED_CONTEXT();
  if (!is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  __atomic_store_n(reinterpret_cast<Value*>(address), value, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

CUresult check_stream(CUstream stream) {
  FAKE_CUDA_NEED_CONTEXT();
  return is_stream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult check_event(CUevent event) {
  FAKE_CUDA_NEED_CONTEXT();
  return is_known(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

bool fake_cuda::is_stream(const void* stream) {
  return ::is_stream(static_cast<CUstream>(const_cast<void*>(stream)));
}

FAKE_CUDA_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  FAKE_CUDA_NEED_CONTEXT();
  if (stream == nullptr || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  *stream = new CUstream_st{flags, priority, fake_cuda::current_context()};
  remember(*stream);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuStreamDestroy_v2(CUstream stream) {
  FAKE_CUDA_NEED_CONTEXT();
  if (!forget(stream)) return CUDA_ERROR_INVALID_HANDLE;
  delete stream;
  return CUDA_SUCCESS;
}

// Needs no current context: the stream has its own. Looks into what it is given, as a driver does.
FAKE_CUDA_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  if (!fake_cuda::is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const CUcontext volatile& inside = stream->context;
  *context = inside;
  if (!is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  const CUresult result = check_stream(stream);
  if (result != CUDA_SUCCESS) return result;
  *status = is_known(stream) ? stream->capture_status : 0;
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

FAKE_CUDA_API CUresult cuStreamQuery(CUstream stream) { return check_stream(stream); }

FAKE_CUDA_API CUresult cuStreamSynchronize(CUstream stream) { return check_stream(stream); }

FAKE_CUDA_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned /*flags*/) {
  const CUresult result = check_stream(stream);
  return result != CUDA_SUCCESS ? result : check_event(event);
}

FAKE_CUDA_API CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void*), void* data) {
  const CUresult result = check_stream(stream);
  if (result != CUDA_SUCCESS) return result;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  function(data);
  return CUDA_SUCCESS;
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

FAKE_CUDA_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *event = new CUevent_st{(flags & 2U) == 0, false, {}};
  remember(*event);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  CUresult result = check_stream(stream);
  if (result == CUDA_SUCCESS) result = check_event(event);
  if (result != CUDA_SUCCESS) return result;
  event->is_recorded = true;
  event->time = std::chrono::steady_clock::now();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuEventQuery(CUevent event) { return check_event(event); }

FAKE_CUDA_API CUresult cuEventSynchronize(CUevent event) { return check_event(event); }

FAKE_CUDA_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  CUresult result = check_event(start);
  if (result == CUDA_SUCCESS) result = check_event(stop);
  if (result != CUDA_SUCCESS) return result;
  if (!start->has_timing || !stop->has_timing || !start->is_recorded || !stop->is_recorded) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuEventDestroy_v2(CUevent event) {
  FAKE_CUDA_NEED_CONTEXT();
  if (!forget(event)) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}
