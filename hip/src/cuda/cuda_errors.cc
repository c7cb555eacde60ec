// SPDX-License-Identifier: MIT
//
// The one table from the driver's results to HIP's errors. HIP took most numbers over, so the table
// holds the others, and the list of codes that both know.

#include "cuda_errors.h"

#include <algorithm>
#include <iterator>

namespace hip_portable::cuda {
namespace {

struct Mapping {
  Result from;
  hipError_t to;
};

// Codes of the driver that HIP does not have.
constexpr Mapping kTranslated[] = {
    {34, hipErrorInsufficientDriver},         // stub library instead of the driver
    {36, hipErrorInsufficientDriver},         // call requires a newer driver
    {46, hipErrorContextAlreadyInUse},        // device busy or in exclusive mode
    {102, hipErrorInvalidDevice},             // device not licensed
    {220, hipErrorECCNotCorrectable},         // NVLink error that cannot be corrected
    {221, hipErrorSharedObjectInitFailed},    // PTX compiler not found
    {222, hipErrorNoBinaryForGpu},            // PTX version not supported
    {223, hipErrorNoBinaryForGpu},            // PTX compilation disabled
    {224, hipErrorNotSupported},              // execution affinity
    {225, hipErrorNotSupported},              // device-side synchronisation
    {226, hipErrorLaunchFailure},             // contained error; the context is lost
    {402, hipErrorIllegalState},              // query that would lose information
    {703, hipErrorLaunchFailure},             // incompatible texturing
    {711, hipErrorPeerAccessUnsupported},     // too many peers
    {714, hipErrorLaunchFailure},             // hardware stack error
    {715, hipErrorLaunchFailure},             // illegal instruction
    {716, hipErrorIllegalAddress},            // misaligned address
    {717, hipErrorIllegalAddress},            // invalid address space
    {718, hipErrorLaunchFailure},             // invalid program counter
    {721, hipErrorLaunchFailure},             // tensor memory leak
    {802, hipErrorNotInitialized},            // system not yet ready (fabric manager)
    {803, hipErrorInsufficientDriver},        // kernel module and library differ
    {804, hipErrorInsufficientDriver},        // forward compatibility not supported here
    {805, hipErrorNoDevice},                  // MPS: connection failed
    {806, hipErrorNoDevice},                  // MPS: remote procedure call failed
    {807, hipErrorNoDevice},                  // MPS: server not ready
    {808, hipErrorLaunchOutOfResources},      // MPS: too many clients
    {809, hipErrorLaunchOutOfResources},      // MPS: too many connections
    {810, hipErrorLaunchFailure},             // MPS: client terminated
    {811, hipErrorNotSupported},              // CUDA dynamic parallelism
    {812, hipErrorNotSupported},              // CDP version
    {909, hipErrorLaunchTimeOut},             // wait timed out
    {911, hipErrorLaunchFailure},             // error outside the driver; the context is lost
    {912, hipErrorInvalidConfiguration},      // invalid cluster size
    {913, hipErrorInvalidDeviceFunction},     // function not loaded
    {914, hipErrorInvalidValue},              // resource of another type
    {915, hipErrorInvalidConfiguration},      // resource configuration
    {916, hipErrorIllegalState},              // key rotation
    {917, hipErrorContextIsDestroyed},        // stream of a green context that is gone
    {918, hipErrorStreamCaptureInvalidated},  // recapture of a graph
};

// Codes that mean the same in both, by number.
constexpr Result kShared[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 200, 201, 202, 205, 206, 207, 208, 209, 210, 211, 212,
    213, 214, 215, 216, 217, 218, 219, 300, 301, 302, 303, 304, 400, 401, 500, 600, 700, 701, 702,
    704, 705, 708, 709, 710, 712, 713, 719, 720, 800, 801, 900, 901, 902, 903, 904, 905, 906, 907,
    908, 910, 999,
};

}  // namespace

hipError_t to_hip(Result result) {
  if (result == kSuccess) return hipSuccess;
  if (std::find(std::begin(kShared), std::end(kShared), result) != std::end(kShared)) {
    return static_cast<hipError_t>(result);
  }
  for (const Mapping& mapping : kTranslated) {
    if (mapping.from == result) return mapping.to;
  }
  return hipErrorUnknown;
}

}  // namespace hip_portable::cuda
