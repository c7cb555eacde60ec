// SPDX-License-Identifier: MIT
//
// Entry points that a later version fills: code, graphs. Until then they answer
// honestly and change nothing: a program that can do without them goes on.

#include "entry.h"

namespace {

using hip_portable::Device;
using hip_portable::Runtime;
using hip_portable::Stream;
using hip_portable::with_current_device;
using hip_portable::with_runtime;
using hip_portable::with_stream;

hipError_t not_supported() {
  return with_runtime([](Runtime&) { return hipErrorNotSupported; });
}

// For calls that take a handle which nothing here can have made.
hipError_t unknown_handle() {
  return with_runtime([](Runtime&) { return hipErrorInvalidHandle; });
}

hipError_t tell_capture_status(hipStream_t stream, hipStreamCaptureStatus* status) {
  return with_stream(stream, [&](Runtime&, Stream&) {
    if (status == nullptr) return hipErrorInvalidValue;
    *status = hipStreamCaptureStatusNone;
    return hipSuccess;
  });
}

hipError_t no_such_kernel(const void* kernel) {
  return with_runtime([&](Runtime&) {
    return kernel == nullptr ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction;
  });
}

}  // namespace

// ---- Code ---------------------------------------------------------------------------------------

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return with_current_device([&](Device& device) {
    if (module == nullptr || image == nullptr) return hipErrorInvalidValue;
    *module = nullptr;
    return device.is_emulated() ? hipErrorNoBinaryForGpu : hipErrorNotSupported;
  });
}

hipError_t hipModuleUnload(hipModule_t /*module*/) { return unknown_handle(); }

hipError_t hipModuleGetFunction(hipFunction_t* /*function*/, hipModule_t /*module*/,
                                const char* /*kname*/) {
  return unknown_handle();
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int /*gridDimX*/,
                                 unsigned int /*gridDimY*/, unsigned int /*gridDimZ*/,
                                 unsigned int /*blockDimX*/, unsigned int /*blockDimY*/,
                                 unsigned int /*blockDimZ*/, unsigned int /*sharedMemBytes*/,
                                 hipStream_t /*stream*/, void** /*kernelParams*/,
                                 void** /*extra*/) {
  return no_such_kernel(f);
}

hipError_t hipLaunchKernel(const void* function_address, dim3 /*numBlocks*/, dim3 /*dimBlocks*/,
                           void** /*args*/, size_t /*sharedMemBytes*/, hipStream_t /*stream*/) {
  return no_such_kernel(function_address);
}

// ---- Capture, graphs ----------------------------------------------------------------------------
// No capture can begin, so no stream captures: that much is answered in full.

hipError_t hipStreamBeginCapture(hipStream_t /*stream*/, hipStreamCaptureMode /*mode*/) {
  return not_supported();
}

hipError_t hipStreamEndCapture(hipStream_t /*stream*/, hipGraph_t* pGraph) {
  if (pGraph != nullptr) *pGraph = nullptr;
  return not_supported();
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* pCaptureStatus) {
  return tell_capture_status(stream, pCaptureStatus);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* pCaptureStatus,
                                   unsigned long long* /*pId*/) {
  return tell_capture_status(stream, pCaptureStatus);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return with_runtime([&](Runtime&) {
    if (mode == nullptr || static_cast<unsigned>(*mode) > hipStreamCaptureModeRelaxed) {
      return hipErrorInvalidValue;
    }
    thread_local hipStreamCaptureMode mode_of_thread = hipStreamCaptureModeGlobal;
    const hipStreamCaptureMode before = mode_of_thread;
    mode_of_thread = *mode;
    *mode = before;
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t /*graph*/) {
  return with_runtime([](Runtime&) { return hipErrorInvalidValue; });
}
