// SPDX-License-Identifier: MIT
//
// What kind of memory a pointer is, by the GPU runtime's word.
#pragma once

#include <cstddef>

namespace hipfile {

namespace gpu {
struct Runtime;
}

enum class MemoryKind {
  kDevice,   ///< only the GPU runtime may touch it
  kManaged,  ///< migrates; the processor may touch it
  kPinned,   ///< host memory that the runtime knows
  kHost,     ///< plain host memory
};

struct PointerInfo {
  const gpu::Runtime* runtime = nullptr;  ///< the one that knows the pointer
  MemoryKind kind = MemoryKind::kHost;
  int device = 0;         ///< ordinal of the owner; 0 for kHost
  size_t bytes_left = 0;  ///< from the pointer to the end of its allocation; SIZE_MAX for kHost
};

}  // namespace hipfile
