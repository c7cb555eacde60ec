// SPDX-License-Identifier: MIT
//
// What all emulated devices of the process share: their memory, the host memory they know, and the
// order of their work.
#pragma once

#include <cstddef>

#include "../device.h"
#include "../settings.h"
#include "device_memory.h"
#include "hazards.h"
#include "host_ranges.h"
#include "virtual_ranges.h"
#include "work_queue.h"

namespace hip_portable::emulated {

struct Machine {
  Settings settings;
  DeviceMemory memory;
  HostRanges host;
  Scheduler scheduler;
  Hazards hazards{scheduler};
  VirtualRanges ranges{memory, scheduler};

  // Where the runtime reads and writes the bytes behind a pointer. Takes their memory.
  void* work_on(const void* pointer, std::size_t size);

  // Before memory is given back: waits for all work of the device.
  void drain(int device);
  // Moves bytes now, between any memory the devices know and plain host memory.
  void copy(void* to, const void* from, std::size_t size);
  void fill(void* to, unsigned char value, std::size_t size);
  hipError_t describe(const void* pointer, PointerInfo* info) const;
};

}  // namespace hip_portable::emulated
