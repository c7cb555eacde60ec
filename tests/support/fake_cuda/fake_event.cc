// SPDX-License-Identifier: MIT
//
// Fake driver: events. Each record of one is a mark of its own, which the stream reaches.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "fake_engine.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Mark {
  std::atomic<bool> is_reached{false};
  Clock::time_point time;
};

}  // namespace

struct CUevent_st {
  bool has_timing = true;
  std::shared_ptr<Mark> last;  // null: never recorded
};
using CUevent = CUevent_st*;

namespace {

std::mutex mutex;
std::map<CUevent, std::unique_ptr<CUevent_st>>& events() {
  static auto* all = new std::map<CUevent, std::unique_ptr<CUevent_st>>;
  return *all;
}

CUresult find(CUevent event, std::shared_ptr<Mark>* mark, bool* has_timing = nullptr) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = events().find(event);
  if (found == events().end()) return CUDA_ERROR_INVALID_HANDLE;
  *mark = found->second->last;
  if (has_timing != nullptr) *has_timing = found->second->has_timing;
  return CUDA_SUCCESS;
}

}  // namespace

FAKE_CUDA_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUevent_st>();
  made->has_timing = (flags & 2U) == 0;
  *event = made.get();
  const std::lock_guard<std::mutex> lock(mutex);
  events()[*event] = std::move(made);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuEventRecord(CUevent event, CUstream handle) {
  std::shared_ptr<Mark> before;
  const CUresult result = find(event, &before);
  if (result != CUDA_SUCCESS) return result;
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto mark = std::make_shared<Mark>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    events().at(event)->last = mark;
  }
  return fake_cuda::queue(stream, [mark] {
    mark->time = Clock::now();
    mark->is_reached = true;
    return true;
  });
}

FAKE_CUDA_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned /*flags*/) {
  std::shared_ptr<Mark> mark;
  const CUresult result = find(event, &mark);
  if (result != CUDA_SUCCESS) return result;
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (mark == nullptr) return CUDA_SUCCESS;
  return fake_cuda::queue(stream, [mark] { return mark->is_reached.load(); });
}

FAKE_CUDA_API CUresult cuEventQuery(CUevent event) {
  std::shared_ptr<Mark> mark;
  const CUresult result = find(event, &mark);
  if (result != CUDA_SUCCESS) return result;
  return mark == nullptr || mark->is_reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

FAKE_CUDA_API CUresult cuEventSynchronize(CUevent event) {
  std::shared_ptr<Mark> mark;
  const CUresult result = find(event, &mark);
  if (result != CUDA_SUCCESS || mark == nullptr) return result;
  return fake_cuda::wait_until([mark] { return mark->is_reached.load(); });
}

FAKE_CUDA_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  std::shared_ptr<Mark> first;
  std::shared_ptr<Mark> last;
  bool has_first_timing = false;
  bool has_last_timing = false;
  CUresult result = find(start, &first, &has_first_timing);
  if (result == CUDA_SUCCESS) result = find(stop, &last, &has_last_timing);
  if (result != CUDA_SUCCESS) return result;
  if (!has_first_timing || !has_last_timing || first == nullptr || last == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!first->is_reached || !last->is_reached) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuEventDestroy_v2(CUevent event) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(mutex);
  return events().erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
