// SPDX-License-Identifier: MIT
//
// Results of NVIDIA's driver as errors of HIP.
#pragma once

#include <hip/hip_runtime_api.h>

#include "cuda_types.h"

namespace hip_portable::cuda {

// A result that HIP has no word for becomes the nearest one, an unknown one hipErrorUnknown.
hipError_t to_hip(Result result);

}  // namespace hip_portable::cuda
