// SPDX-License-Identifier: MIT
//
// HIP's calls, one by one, and what a runtime lacks of them.
#include "gpu/user_stream.h"

#include <algorithm>
#include <vector>

namespace hipfile {
namespace {

using gpu::HipTable;
using gpu::Runtime;

bool waits_for_values(const HipTable& hip, int device) {
  int can = 0;
  const LastErrorGuard errors(hip);
  return hip.DeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, device) ==
             hipSuccess &&
         can != 0;
}

bool takes_late_bound_copies(const HipTable& hip, int device) {
  if (hip.PortableIndirectCopyStatus == nullptr) return true;
  const LastErrorGuard errors(hip);
  return hip.PortableIndirectCopyStatus(device) == hipSuccess;
}

bool is_in_host_function_of(const Runtime* runtime) {
  if (runtime->is_gone.load(std::memory_order_acquire)) return false;
  const LastErrorGuard errors(runtime->hip);
  int device = 0;
  return runtime->hip.GetDevice(&device) == hipErrorNotPermitted;
}

}  // namespace

bool is_in_host_function() {
  const std::vector<const Runtime*> runtimes = gpu::all_bound();
  return std::any_of(runtimes.begin(), runtimes.end(), is_in_host_function_of);
}

const char* lack_of_streams(const Runtime& runtime, int device) {
  const HipTable& hip = runtime.hip;
  const bool has_calls = hip.LaunchHostFunc != nullptr && hip.StreamWaitValue32 != nullptr &&
                         hip.DeviceGetAttribute != nullptr;
  if (!has_calls || !waits_for_values(hip, device)) return "they cannot wait for a value";
  if (hip.PortableMemcpyIndirectAsync == nullptr) return "the runtime has no late-bound copy";
  return takes_late_bound_copies(hip, device) ? nullptr : "the device cannot run late-bound copies";
}

Result<UserStream> find_stream(const Runtime* runtime, hipStream_t stream) {
  if (runtime->is_gone.load(std::memory_order_acquire)) return Error::of(hipFileDriverClosing);
  UserStream found;
  found.runtime = runtime;
  found.stream = stream;
  const HipTable& hip = runtime->hip;
  const LastErrorGuard errors(hip);
  const bool has_own_device = stream != nullptr && hip.StreamGetDevice != nullptr;
  const hipError_t error =
      has_own_device ? hip.StreamGetDevice(stream, &found.device) : hip.GetDevice(&found.device);
  if (error != hipSuccess) return Error::from_hip(error);
  return found;
}

Result<bool> is_capturing(const UserStream& stream) {
  const HipTable& hip = stream.runtime->hip;
  if (hip.StreamIsCapturing == nullptr) return false;
  const LastErrorGuard errors(hip);
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  const hipError_t error = hip.StreamIsCapturing(stream.stream, &status);
  if (error != hipSuccess) return Error::from_hip(error);
  return status != hipStreamCaptureStatusNone;
}

bool is_idle(const UserStream& stream) {
  const HipTable& hip = stream.runtime->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const DeviceGuard current(hip, stream.device);
  return current.error() == hipSuccess && hip.StreamQuery(stream.stream) == hipSuccess;
}

Status synchronize(const UserStream& stream) {
  const HipTable& hip = stream.runtime->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  const DeviceGuard current(hip, stream.device);
  if (current.error() != hipSuccess) return Error::from_hip(current.error());
  return status_of(hip.StreamSynchronize(stream.stream));
}

StreamQueue::StreamQueue(const UserStream& stream)
    : stream_(stream),
      hip_(stream.runtime->hip),
      errors_(stream.runtime->hip),
      current_(stream.runtime->hip, stream.device) {}

Status StreamQueue::ready() const { return status_of(current_.error()); }

Status StreamQueue::host_function(hipHostFn_t function, void* context) {
  if (const Status current = ready(); !current.ok()) return current;
  return status_of(hip_.LaunchHostFunc(stream_.stream, function, context));
}

// All bits: NVIDIA's driver knows no other mask (rule 16).
Status StreamQueue::wait_until(uint32_t* value, uint32_t wanted) {
  return status_of(
      hip_.StreamWaitValue32(stream_.stream, value, wanted, hipStreamWaitValueGte, UINT32_MAX));
}

Status StreamQueue::late_bound_copy(const hipPortableIndirectCopy_t* descriptor) {
  return status_of(hip_.PortableMemcpyIndirectAsync(stream_.stream, descriptor));
}

}  // namespace hipfile
