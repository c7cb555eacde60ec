/* SPDX-License-Identifier: MIT */
/**
 * @file capture.h
 * The capture and graph calls of hip_runtime_api.h.
 *
 * Work of a stream that captures is recorded, not run. Another stream joins a capture when it waits
 * for an event that was recorded in it, and has to be joined to the first stream, by an event too,
 * before the capture ends. These calls spoil a capture, which then ends without a graph:
 *  - on its streams: hipStreamQuery, hipStreamSynchronize, hipMallocAsync, hipFreeAsync,
 *    hipStreamAddCallback (hipErrorStreamCaptureUnsupported)
 *  - on its device: hipDeviceSynchronize, hipDeviceReset (the same)
 *  - what would wait for it through the null stream (hipErrorStreamCaptureImplicit)
 *  - a wait for an event recorded outside (hipErrorStreamCaptureIsolation) or in another capture
 *    (hipErrorStreamCaptureMerge); a query of or wait for an event recorded in it
 *    (hipErrorCapturedEvent)
 *  - unless the modes allow them: hipEventQuery, loading code, allocation, registration and release
 *    of memory out of stream order (hipErrorStreamCaptureUnsupported)
 */
#ifndef HIP_INCLUDE_HIP_PORTABLE_CAPTURE_H
#define HIP_INCLUDE_HIP_PORTABLE_CAPTURE_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** @return hipErrorStreamCaptureUnsupported for the null stream, hipErrorIllegalState if the stream
 *  captures */
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
/** @param pGraph  NULL on error
 *  @return hipErrorIllegalState if the stream does not capture, hipErrorStreamCaptureUnmatched if
 *  it only joined, hipErrorStreamCaptureWrongThread if another thread began and the mode is not
 *  relaxed; and where the capture ends without a graph, hipErrorStreamCaptureInvalidated or
 *  hipErrorStreamCaptureUnjoined */
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph);
/** @return hipErrorStreamCaptureImplicit for the null stream beside a blocking one that captures */
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);
/** @param pId  identifies the capture; set only while one is active; may be NULL */
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                   unsigned long long *pId);
/** @param mode  in: the calling thread's new mode; out: the one before, at first global */
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

/** @return hipErrorInvalidValue for what is no graph */
hipError_t hipGraphDestroy(hipGraph_t graph);
/** Makes a graph ready to run; it stays so when the graph is destroyed.
 *  @param pErrorNode, pLogBuffer  may be NULL; nothing is ever said in them */
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                               hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize);
/** Queues the graph's work in one stream, in the order in which it was recorded. */
hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream);
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
