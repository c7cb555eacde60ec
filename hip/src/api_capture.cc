// SPDX-License-Identifier: MIT
//
// Entry points: stream capture and graphs.

#include <utility>

#include "entry.h"

namespace {

using hip_portable::Graph;
using hip_portable::Runtime;
using hip_portable::Stream;
using hip_portable::this_thread;
using hip_portable::with_runtime;
using hip_portable::with_stream;
using hip_portable::Work;

bool is_mode(hipStreamCaptureMode mode) {
  return mode == hipStreamCaptureModeGlobal || mode == hipStreamCaptureModeThreadLocal ||
         mode == hipStreamCaptureModeRelaxed;
}

}  // namespace

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return with_stream(stream, [&](Runtime& runtime, Stream& origin) {
    return is_mode(mode) ? runtime.captures().begin(origin, mode) : hipErrorInvalidValue;
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* pGraph) {
  return with_stream(stream, [&](Runtime& runtime, Stream& origin) {
    if (pGraph == nullptr) return hipErrorInvalidValue;
    *pGraph = nullptr;
    std::shared_ptr<Graph> graph;
    const hipError_t error = runtime.captures().end(origin, &graph);
    if (error == hipSuccess) *pGraph = runtime.graphs().add(std::move(graph));
    return error;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* pCaptureStatus) {
  return hipStreamGetCaptureInfo(stream, pCaptureStatus, nullptr);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* pCaptureStatus,
                                   unsigned long long* pId) {
  return with_stream(stream, [&](Runtime& runtime, Stream& asked) {
    if (pCaptureStatus == nullptr) return hipErrorInvalidValue;
    const hipError_t error = runtime.captures().tell(asked, pCaptureStatus, pId);
    const bool is_ours = error != hipSuccess || *pCaptureStatus != hipStreamCaptureStatusNone;
    return is_ours ? error : asked.work->capture_status(pCaptureStatus, pId);
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return with_runtime([&](Runtime& runtime) {
    if (mode == nullptr || !is_mode(*mode)) return hipErrorInvalidValue;
    // A driver has one for all its devices, which goes for captures of other users too.
    const hipError_t error = runtime.device(0).set_capture_mode(*mode);
    if (error == hipSuccess) std::swap(*mode, this_thread().capture_mode);
    return error;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.graphs().remove(graph) != nullptr ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* pGraphExec, hipGraph_t graph,
                               hipGraphNode_t* pErrorNode, char* pLogBuffer, size_t bufferSize) {
  return with_runtime([&](Runtime& runtime) {
    std::shared_ptr<Graph> found = runtime.graphs().find(graph);
    if (pGraphExec == nullptr || found == nullptr) return hipErrorInvalidValue;
    if (pErrorNode != nullptr) *pErrorNode = nullptr;
    if (pLogBuffer != nullptr && bufferSize != 0) *pLogBuffer = '\0';
    *pGraphExec = runtime.executables().add(std::move(found));
    return hipSuccess;
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream) {
  return with_stream(stream, [&](Runtime& runtime, Stream& order) {
    const std::shared_ptr<Graph> graph = runtime.executables().find(graphExec);
    if (graph == nullptr) return hipErrorInvalidValue;
    hipError_t error = hipSuccess;
    for (const Work& work : graph->work) {
      if (error == hipSuccess) error = hip_portable::queue(runtime, order, work);
    }
    return error;
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.executables().remove(graphExec) != nullptr ? hipSuccess : hipErrorInvalidValue;
  });
}
