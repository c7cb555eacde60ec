// SPDX-License-Identifier: MIT
//
// A registered buffer.
#pragma once

#include "resource/memory.h"

namespace hipfile {

/// Immutable. Identity is the exact base address (hipFileBufRegister).
struct Buffer {
  Memory memory;
};

}  // namespace hipfile
