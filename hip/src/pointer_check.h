// SPDX-License-Identifier: MIT
//
// Whether the arguments of a copy name memory that is there, before a device sees them.
#pragma once

#include <cstddef>

#include "device.h"

namespace hip_portable {

struct CopyRequest {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t size = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};

// hipErrorInvalidMemcpyDirection for a kind that does not exist, hipErrorInvalidValue for a null
// pointer, for freed device memory, for a range that leaves its allocation or to which the device
// has no access, and where a pointer is not what the kind says. A size of 0 is always right.
// *is_pageable: plain host memory takes part.
hipError_t check_copy(Device& device, const CopyRequest& request, bool* is_pageable);

// A range that a device shall read or write itself: device, managed or pinned memory.
hipError_t check_device_range(Device& device, const void* pointer, std::size_t size,
                              hipMemAccessFlags access);
// The same for a value that a stream of the device waits for, or writes.
hipError_t check_value(Device& device, const void* pointer, std::size_t size,
                       hipMemAccessFlags access);

// An aligned object in pinned, registered or managed memory, which host and device both reach.
hipError_t check_shared_object(Device& device, const void* pointer, std::size_t size,
                               std::size_t alignment);

}  // namespace hip_portable
