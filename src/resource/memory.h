// SPDX-License-Identifier: MIT
//
// Memory as a request sees it: what kind it is, which device owns it, how far it reaches.
#pragma once

#include <cstddef>

#include "gpu/memory_kind.h"

namespace hipfile {

/// A range of memory that starts at a client's base address.
struct Memory {
  const void* base = nullptr;
  size_t length = 0;  ///< bytes that may be touched from base on; SIZE_MAX where nobody knows
  MemoryKind kind = MemoryKind::kHost;
  const gpu::Runtime* runtime = nullptr;  ///< the one that knows it
  int device = 0;  ///< ordinal of the owner; meaningful for device and managed memory
  bool is_device() const { return kind == MemoryKind::kDevice; }
};

}  // namespace hipfile
