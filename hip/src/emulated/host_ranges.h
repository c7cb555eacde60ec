// SPDX-License-Identifier: MIT
//
// Host memory that the emulated devices know: pinned, registered and managed ranges. All of it has
// one view, which program and runtime share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "../mutex.h"

namespace hip_portable::emulated {

enum class HostKind { kPinned, kRegistered, kManaged };

struct HostRange {
  std::uintptr_t start = 0;
  std::size_t size = 0;    // as asked for
  std::size_t mapped = 0;  // whole pages of ours; 0 for memory of the program
  HostKind kind = HostKind::kPinned;
  int device = 0;
  unsigned flags = 0;
};

class HostRanges {
 public:
  // Maps memory of the given kind. Null when there is none to be had.
  void* allocate(HostKind kind, std::size_t size, int device, unsigned flags);
  // hipErrorHostMemoryAlreadyRegistered on any overlap, hipErrorInvalidValue where the program has
  // no memory.
  hipError_t add(void* pointer, std::size_t size, int device, unsigned flags);

  std::optional<HostRange> find(const void* pointer) const;
  // True if a range of that kind begins there.
  bool is_start_of(const void* pointer, HostKind kind) const;
  // Removes the range of that kind that begins there, and only from the index.
  std::optional<HostRange> remove(const void* pointer, HostKind kind);
  std::vector<HostRange> remove_all(int device);

  // Gives the memory of a removed range back.
  static void unmap(const HostRange& range);

 private:
  mutable Mutex mutex_;
  std::map<std::uintptr_t, HostRange> ranges_ HIP_PORTABLE_GUARDED_BY(mutex_);  // by start
};

}  // namespace hip_portable::emulated
