// SPDX-License-Identifier: MIT
//
// The name of a device that does not depend on its ordinal.
#pragma once

namespace hipfile::gpu {

struct Runtime;

/// hipDeviceGetUuid. All zero where the runtime has no such function, or no answer.
void read_uuid(const Runtime* runtime, int device, char (*uuid)[16]);

}  // namespace hipfile::gpu
