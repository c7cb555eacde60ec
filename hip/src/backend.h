// SPDX-License-Identifier: MIT
//
// Which devices the runtime offers.
#pragma once

#include <memory>
#include <vector>

#include "device.h"
#include "settings.h"

namespace hip_portable {

// By the settings: auto takes NVIDIA's driver if it sees a device, else the emulated device. A
// backend that was asked for by name and is not there is an error: hipErrorNoDevice or the
// driver's own. Devices stand in the order of their ordinals and are all of one backend.
hipError_t make_devices(const Settings& settings, std::vector<std::unique_ptr<Device>>* devices);

// Why make_devices() took the emulated device for auto; hipSuccess if it did not.
hipError_t passed_over();

}  // namespace hip_portable
