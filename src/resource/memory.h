// SPDX-License-Identifier: MIT
//
// Memory as a request sees it: what kind it is, which device owns it, how far it reaches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipfile {

enum class MemoryKind {
  kDevice,   ///< only the GPU runtime may touch it
  kManaged,  ///< migrates; the processor may touch it
  kPinned,   ///< host memory that the runtime knows
  kHost,     ///< plain host memory
};

/// A range of memory that starts at a client's base address.
struct Memory {
  const void* base = nullptr;
  size_t length = 0;   ///< bytes that may be touched from base on; SIZE_MAX where nobody knows
  MemoryKind kind = MemoryKind::kHost;
  int device = 0;      ///< ordinal of the owner; meaningful for kDevice and kManaged
  bool is_device() const { return kind == MemoryKind::kDevice; }
};

}  // namespace hipfile
