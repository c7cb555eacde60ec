// SPDX-License-Identifier: MIT
//
// Host memory that the driver pinned for us, with the flags as HIP gave them: the driver adds flags
// of its own, and its pointer queries do not tell the range of registered memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "../mutex.h"

namespace hip_portable::cuda {

enum class PinnedKind {
  kAllocated,   // cuMemHostAlloc
  kRegistered,  // cuMemHostRegister
  kSignal,      // cuMemHostAlloc, but device memory for HIP: hipMallocSignalMemory
};

struct PinnedRange {
  void* start = nullptr;
  std::size_t size = 0;
  PinnedKind kind = PinnedKind::kAllocated;
  unsigned flags = 0;
  int device = 0;
};

// One for the process: pinned memory belongs to all devices.
class PinnedRanges {
 public:
  void add(const PinnedRange& range) HIP_PORTABLE_EXCLUDES(mutex_);
  // Takes off the range of that kind that starts there; false if there is none.
  bool remove(const void* start, PinnedKind kind, PinnedRange* range)
      HIP_PORTABLE_EXCLUDES(mutex_);
  void remove_all_of(int device) HIP_PORTABLE_EXCLUDES(mutex_);
  // The range that holds the address, or false.
  bool find(const void* address, PinnedRange* range) HIP_PORTABLE_EXCLUDES(mutex_);
  // Is it the start of a range of that kind?
  bool is_start(const void* address, PinnedKind kind) HIP_PORTABLE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::map<std::uintptr_t, PinnedRange> ranges_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable::cuda
