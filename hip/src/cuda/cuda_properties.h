// SPDX-License-Identifier: MIT
//
// What NVIDIA's driver says of a device, in HIP's words.
#pragma once

#include <hip/hip_runtime_api.h>

#include "cuda_driver.h"

namespace hip_portable::cuda {

// hipErrorInvalidValue for an attribute that neither the driver nor HIP knows.
hipError_t read_attribute(const Driver& driver, DeviceId device, hipDeviceAttribute_t attribute,
                          int* value);

hipError_t read_properties(const Driver& driver, DeviceId device, hipDeviceProp_t* properties);

}  // namespace hip_portable::cuda
