// SPDX-License-Identifier: MIT
//
// An optional function: a runtime without it serves all the same.
#include "gpu/uuid.h"

#include <cstring>

#include "gpu/guards.h"

namespace hipfile::gpu {

void read_uuid(const Runtime* runtime, int device, char (*uuid)[16]) {
  std::memset(uuid, 0, sizeof *uuid);
  if (runtime == nullptr || runtime->is_gone.load(std::memory_order_acquire)) return;
  if (runtime->hip.DeviceGetUuid == nullptr) return;
  const LastErrorGuard guard(runtime->hip);
  hipUUID answer = {};
  static_assert(sizeof answer.bytes == sizeof *uuid);
  if (runtime->hip.DeviceGetUuid(&answer, device) != hipSuccess) return;
  std::memcpy(uuid, answer.bytes, sizeof *uuid);
}

}  // namespace hipfile::gpu
