// SPDX-License-Identifier: MIT
//
// Names and sentences of the error codes: pure tables, no state. They answer at any time, before
// the runtime has started and after it has ended.

#include <algorithm>
#include <iterator>

#include <hip/hip_runtime_api.h>

namespace {

struct ErrorText {
  hipError_t code;
  const char* name;
  const char* text;
};

#define HIP_PORTABLE_TEXT(code, text) \
  { code, #code, text }

// Sorted by code for the binary search; of two names with one value the newer stands here.
constexpr ErrorText kErrors[] = {
    HIP_PORTABLE_TEXT(hipSuccess, "no error"),
    HIP_PORTABLE_TEXT(hipErrorInvalidValue, "invalid argument"),
    HIP_PORTABLE_TEXT(hipErrorOutOfMemory, "out of memory"),
    HIP_PORTABLE_TEXT(hipErrorNotInitialized, "the runtime is not initialized"),
    HIP_PORTABLE_TEXT(hipErrorDeinitialized, "the runtime is shutting down"),
    HIP_PORTABLE_TEXT(hipErrorProfilerDisabled, "the profiler is disabled"),
    HIP_PORTABLE_TEXT(hipErrorProfilerNotInitialized, "the profiler is not initialized"),
    HIP_PORTABLE_TEXT(hipErrorProfilerAlreadyStarted, "the profiler was started before"),
    HIP_PORTABLE_TEXT(hipErrorProfilerAlreadyStopped, "the profiler was stopped before"),
    HIP_PORTABLE_TEXT(hipErrorInvalidConfiguration, "invalid launch configuration"),
    HIP_PORTABLE_TEXT(hipErrorInvalidPitchValue, "invalid pitch"),
    HIP_PORTABLE_TEXT(hipErrorInvalidSymbol, "invalid device symbol"),
    HIP_PORTABLE_TEXT(hipErrorInvalidDevicePointer, "invalid device pointer"),
    HIP_PORTABLE_TEXT(hipErrorInvalidMemcpyDirection, "invalid direction of a copy"),
    HIP_PORTABLE_TEXT(hipErrorInsufficientDriver, "the driver is too old for the runtime"),
    HIP_PORTABLE_TEXT(hipErrorMissingConfiguration, "the launch has no configuration"),
    HIP_PORTABLE_TEXT(hipErrorPriorLaunchFailure, "an earlier launch has failed"),
    HIP_PORTABLE_TEXT(hipErrorInvalidDeviceFunction, "invalid device function"),
    HIP_PORTABLE_TEXT(hipErrorNoDevice, "no device is available"),
    HIP_PORTABLE_TEXT(hipErrorInvalidDevice, "invalid device ordinal"),
    HIP_PORTABLE_TEXT(hipErrorInvalidImage, "invalid device image"),
    HIP_PORTABLE_TEXT(hipErrorInvalidContext, "invalid device context"),
    HIP_PORTABLE_TEXT(hipErrorContextAlreadyCurrent, "the context is current already"),
    HIP_PORTABLE_TEXT(hipErrorMapFailed, "mapping failed"),
    HIP_PORTABLE_TEXT(hipErrorUnmapFailed, "unmapping failed"),
    HIP_PORTABLE_TEXT(hipErrorArrayIsMapped, "the array is mapped"),
    HIP_PORTABLE_TEXT(hipErrorAlreadyMapped, "the resource is mapped already"),
    HIP_PORTABLE_TEXT(hipErrorNoBinaryForGpu, "the image has no code for this device"),
    HIP_PORTABLE_TEXT(hipErrorAlreadyAcquired, "the resource is acquired already"),
    HIP_PORTABLE_TEXT(hipErrorNotMapped, "the resource is not mapped"),
    HIP_PORTABLE_TEXT(hipErrorNotMappedAsArray, "the resource is not mapped as an array"),
    HIP_PORTABLE_TEXT(hipErrorNotMappedAsPointer, "the resource is not mapped as a pointer"),
    HIP_PORTABLE_TEXT(hipErrorECCNotCorrectable, "a memory error cannot be corrected"),
    HIP_PORTABLE_TEXT(hipErrorUnsupportedLimit, "the device does not know this limit"),
    HIP_PORTABLE_TEXT(hipErrorContextAlreadyInUse, "another thread uses the device exclusively"),
    HIP_PORTABLE_TEXT(hipErrorPeerAccessUnsupported, "the two devices cannot reach each other"),
    HIP_PORTABLE_TEXT(hipErrorInvalidKernelFile, "invalid kernel file"),
    HIP_PORTABLE_TEXT(hipErrorInvalidGraphicsContext, "invalid graphics context"),
    HIP_PORTABLE_TEXT(hipErrorInvalidSource, "invalid source of device code"),
    HIP_PORTABLE_TEXT(hipErrorFileNotFound, "file not found"),
    HIP_PORTABLE_TEXT(hipErrorSharedObjectSymbolNotFound, "symbol of a shared object not found"),
    HIP_PORTABLE_TEXT(hipErrorSharedObjectInitFailed, "a shared object could not start"),
    HIP_PORTABLE_TEXT(hipErrorOperatingSystem, "a call of the operating system failed"),
    HIP_PORTABLE_TEXT(hipErrorInvalidHandle, "invalid stream, event or other handle"),
    HIP_PORTABLE_TEXT(hipErrorIllegalState, "a resource is in the wrong state for the call"),
    HIP_PORTABLE_TEXT(hipErrorNotFound, "name or address not found"),
    HIP_PORTABLE_TEXT(hipErrorNotReady, "work queued before has not finished"),
    HIP_PORTABLE_TEXT(hipErrorIllegalAddress, "the device met an illegal address"),
    HIP_PORTABLE_TEXT(hipErrorLaunchOutOfResources, "a launch asks for too many resources"),
    HIP_PORTABLE_TEXT(hipErrorLaunchTimeOut, "the launch ran out of time"),
    HIP_PORTABLE_TEXT(hipErrorPeerAccessAlreadyEnabled, "peer access is enabled already"),
    HIP_PORTABLE_TEXT(hipErrorPeerAccessNotEnabled, "peer access is not enabled"),
    HIP_PORTABLE_TEXT(hipErrorSetOnActiveProcess, "too late: the device is in use"),
    HIP_PORTABLE_TEXT(hipErrorContextIsDestroyed, "the context is destroyed"),
    HIP_PORTABLE_TEXT(hipErrorAssert, "an assertion on the device failed"),
    HIP_PORTABLE_TEXT(hipErrorHostMemoryAlreadyRegistered, "the memory is registered already"),
    HIP_PORTABLE_TEXT(hipErrorHostMemoryNotRegistered, "the memory is not registered"),
    HIP_PORTABLE_TEXT(hipErrorLaunchFailure, "work on the device failed"),
    HIP_PORTABLE_TEXT(hipErrorCooperativeLaunchTooLarge, "too many blocks to run together"),
    HIP_PORTABLE_TEXT(hipErrorNotPermitted, "HIP calls are not permitted in a host function"),
    HIP_PORTABLE_TEXT(hipErrorNotSupported, "the operation is not supported"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureUnsupported, "not allowed while a stream captures"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureInvalidated, "an earlier error ended the capture"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureMerge, "two captures would merge"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureUnmatched, "the capture began in another stream"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureUnjoined, "a branch of the capture was not joined"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureIsolation, "the capture would depend on its outside"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureImplicit, "the null stream would join the capture"),
    HIP_PORTABLE_TEXT(hipErrorCapturedEvent, "the event was recorded in a capture"),
    HIP_PORTABLE_TEXT(hipErrorStreamCaptureWrongThread, "another thread began the capture"),
    HIP_PORTABLE_TEXT(hipErrorGraphExecUpdateFailure, "the graph cannot be updated that way"),
    HIP_PORTABLE_TEXT(hipErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    HIP_PORTABLE_TEXT(hipErrorInvalidTexture, "invalid texture"),
    HIP_PORTABLE_TEXT(hipErrorUnknown, "unknown error"),
    HIP_PORTABLE_TEXT(hipErrorRuntimeMemory, "a memory call below the runtime failed"),
    HIP_PORTABLE_TEXT(hipErrorRuntimeOther, "a call below the runtime failed"),
    HIP_PORTABLE_TEXT(hipErrorTbd, "error without a code of its own"),
};

constexpr bool before(const ErrorText& left, const ErrorText& right) {
  return left.code < right.code;
}
static_assert(std::is_sorted(std::begin(kErrors), std::end(kErrors), before));

const ErrorText* find(hipError_t code) {
  const ErrorText wanted{code, nullptr, nullptr};
  const ErrorText* at = std::lower_bound(std::begin(kErrors), std::end(kErrors), wanted, before);
  return at != std::end(kErrors) && at->code == code ? at : nullptr;
}

// Programs print these without a check, so an unknown code has a text too.
const ErrorText& find_or_unknown(hipError_t code) {
  static constexpr ErrorText kUnknown = HIP_PORTABLE_TEXT(hipErrorUnknown, "unknown error");
  const ErrorText* found = find(code);
  return found != nullptr ? *found : kUnknown;
}

#undef HIP_PORTABLE_TEXT

}  // namespace

const char* hipGetErrorName(hipError_t hip_error) { return find_or_unknown(hip_error).name; }

const char* hipGetErrorString(hipError_t hipError) { return find_or_unknown(hipError).text; }

hipError_t hipDrvGetErrorName(hipError_t hipError, const char** errorString) {
  if (errorString == nullptr) return hipErrorInvalidValue;
  const ErrorText* found = find(hipError);
  *errorString = found != nullptr ? found->name : nullptr;
  return found != nullptr ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipDrvGetErrorString(hipError_t hipError, const char** errorString) {
  if (errorString == nullptr) return hipErrorInvalidValue;
  const ErrorText* found = find(hipError);
  *errorString = found != nullptr ? found->text : nullptr;
  return found != nullptr ? hipSuccess : hipErrorInvalidValue;
}
