// SPDX-License-Identifier: MIT
//
// Bad calls: streams, events, capture, graphs.

#include "hip_subset_test.h"

namespace hip_test {
namespace {

constexpr hipError_t kValue = hipErrorInvalidValue;
constexpr hipError_t kHandle = hipErrorInvalidHandle;

hipStream_t stream;
hipEvent_t event;
hipGraph_t graph;
hipGraphExec_t executable;
hipDevice_t device;
unsigned flags;
float time;
alignas(8) char host[64];
hipStreamCaptureStatus status;
hipStreamCaptureMode mode = static_cast<hipStreamCaptureMode>(3);

const auto no_stream = unknown<hipStream_t>();
const auto no_event = unknown<hipEvent_t>();
const auto nothing = [](void*) {};
const auto no_callback = [](hipStream_t, hipError_t, void*) {};

}  // namespace

std::vector<BadCall> bad_calls_of_streams() {
  return {
      HIP_BAD(hipStreamCreate, kValue, nullptr),
      HIP_BAD(hipStreamCreateWithFlags, kValue, nullptr, 0),
      HIP_BAD(hipStreamCreateWithFlags, kValue, &stream, ~0U),
      HIP_BAD(hipStreamCreateWithPriority, kValue, nullptr, 0, 0),
      HIP_BAD(hipStreamCreateWithPriority, kValue, &stream, 2, 0),
      HIP_BAD(hipStreamDestroy, kHandle, nullptr),
      HIP_BAD(hipStreamDestroy, kHandle, hipStreamPerThread),
      HIP_BAD(hipStreamDestroy, kHandle, no_stream),
      HIP_BAD(hipStreamDestroy, kHandle, minus_one<hipStream_t>()),
      HIP_BAD(hipStreamQuery, kHandle, no_stream),
      HIP_BAD(hipStreamSynchronize, kHandle, minus_one<hipStream_t>()),
      HIP_BAD(hipStreamWaitEvent, kHandle, no_stream, nullptr, 0),
      HIP_BAD(hipStreamWaitEvent, kHandle, nullptr, nullptr, 0),
      HIP_BAD(hipStreamWaitEvent, kHandle, nullptr, no_event, 0),
      HIP_BAD(hipStreamWaitEvent, kValue, nullptr, no_event, 9),
      HIP_BAD(hipStreamGetFlags, kValue, nullptr, nullptr),
      HIP_BAD(hipStreamGetFlags, kHandle, no_stream, &flags),
      HIP_BAD(hipStreamGetDevice, kValue, nullptr, nullptr),
      HIP_BAD(hipStreamGetDevice, kHandle, no_stream, &device),
      HIP_BAD(hipStreamWaitValue32, kValue, nullptr, nullptr, 0, hipStreamWaitValueEq, ~0U),
      HIP_BAD(hipStreamWaitValue32, kValue, nullptr, host, 0, hipStreamWaitValueEq, ~0U),
      HIP_BAD(hipStreamWaitValue32, kHandle, no_stream, host, 0, hipStreamWaitValueEq, ~0U),
      HIP_BAD(hipStreamWaitValue64, kValue, nullptr, nullptr, 0, hipStreamWaitValueEq, 1),
      HIP_BAD(hipStreamWaitValue64, kValue, nullptr, host + 4, 0, hipStreamWaitValueEq, 1),
      HIP_BAD(hipStreamWaitValue64, kValue, nullptr, host, 0, ~0U, 1),
      HIP_BAD(hipStreamWriteValue32, kValue, nullptr, nullptr, 0, 0),
      HIP_BAD(hipStreamWriteValue32, kHandle, no_stream, host, 0, 0),
      HIP_BAD(hipStreamWriteValue64, kValue, nullptr, host, 0, 0),
      HIP_BAD(hipPortableIndirectCopyStatus, hipErrorInvalidDevice, -1),
      HIP_BAD(hipPortableMemcpyIndirectAsync, kValue, nullptr, nullptr),
      HIP_BAD(hipPortableMemcpyIndirectAsync, kHandle, no_stream, nullptr),
      HIP_BAD(hipStreamWriteValue64, kValue, nullptr, host, 0, ~0U),
      HIP_BAD(hipLaunchHostFunc, kValue, nullptr, nullptr, nullptr),
      HIP_BAD(hipLaunchHostFunc, kHandle, no_stream, nothing, nullptr),
      HIP_BAD(hipStreamAddCallback, kValue, nullptr, nullptr, nullptr, 0),
      HIP_BAD(hipStreamAddCallback, kValue, nullptr, no_callback, nullptr, 1),
      HIP_BAD(hipStreamAddCallback, kHandle, no_stream, no_callback, nullptr, 0),

      HIP_BAD(hipEventCreate, kValue, nullptr),
      HIP_BAD(hipEventCreateWithFlags, kValue, nullptr, 0),
      HIP_BAD(hipEventCreateWithFlags, kValue, &event, 0x100),
      HIP_BAD(hipEventCreateWithFlags, kValue, &event, hipEventInterprocess),
      HIP_BAD(hipEventRecord, kHandle, nullptr, nullptr),
      HIP_BAD(hipEventRecord, kHandle, no_event, no_stream),
      HIP_BAD(hipEventQuery, kHandle, nullptr),
      HIP_BAD(hipEventQuery, kHandle, minus_one<hipEvent_t>()),
      HIP_BAD(hipEventSynchronize, kHandle, no_event),
      HIP_BAD(hipEventElapsedTime, kValue, nullptr, no_event, no_event),
      HIP_BAD(hipEventElapsedTime, kHandle, &time, no_event, nullptr),
      HIP_BAD(hipEventDestroy, kHandle, nullptr),
      HIP_BAD(hipEventDestroy, kHandle, no_event),

      HIP_BAD(hipStreamBeginCapture, kHandle, no_stream, hipStreamCaptureModeGlobal),
      HIP_BAD(hipStreamBeginCapture, kValue, nullptr, mode),
      HIP_BAD(hipStreamBeginCapture, hipErrorStreamCaptureUnsupported, nullptr,
              hipStreamCaptureModeGlobal),
      HIP_BAD(hipStreamEndCapture, kHandle, no_stream, &graph),
      HIP_BAD(hipStreamEndCapture, kValue, nullptr, nullptr),
      HIP_BAD(hipStreamEndCapture, hipErrorIllegalState, nullptr, &graph),
      HIP_BAD(hipStreamIsCapturing, kValue, nullptr, nullptr),
      HIP_BAD(hipStreamIsCapturing, kHandle, no_stream, &status),
      HIP_BAD(hipStreamGetCaptureInfo, kValue, nullptr, nullptr, nullptr),
      HIP_BAD(hipStreamGetCaptureInfo, kHandle, no_stream, &status, nullptr),
      HIP_BAD(hipThreadExchangeStreamCaptureMode, kValue, nullptr),
      HIP_BAD(hipThreadExchangeStreamCaptureMode, kValue, &mode),
      HIP_BAD(hipGraphDestroy, kValue, nullptr),
      HIP_BAD(hipGraphDestroy, kValue, minus_one<hipGraph_t>()),
      HIP_BAD(hipGraphInstantiate, kValue, nullptr, nullptr, nullptr, nullptr, 0),
      HIP_BAD(hipGraphInstantiate, kValue, &executable, unknown<hipGraph_t>(), nullptr, nullptr, 0),
      HIP_BAD(hipGraphLaunch, kValue, nullptr, nullptr),
      HIP_BAD(hipGraphLaunch, kHandle, unknown<hipGraphExec_t>(), no_stream),
      HIP_BAD(hipGraphExecDestroy, kValue, nullptr),
  };
}

}  // namespace hip_test
