// SPDX-License-Identifier: MIT
//
// Host memory that the copy engine reaches: mapped with huge pages, populated, then registered.
// 0.04 ms/MiB where hipHostMalloc takes 0.66 (rule 13).
#pragma once

#include <cstddef>

#include "gpu/gpu.h"

namespace hipfile {

/// One mapping. Where it cannot be registered (memlock, no runtime) it stays pageable, and works.
class PinnedMemory {
 public:
  /// Empty if even plain memory cannot be had.
  /// @param size       a multiple of 2 MiB
  /// @param numa_node  where it should lie; -1 for no matter
  /// @param may_pin    register it, if that works; else it stays pageable
  static PinnedMemory allocate(Gpu& gpu, size_t size, int numa_node, bool may_pin = true);
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&& other) noexcept { *this = static_cast<PinnedMemory&&>(other); }
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  ~PinnedMemory();

  char* data() const { return data_; }
  int numa_node() const { return numa_node_; }
  size_t size() const { return size_; }
  bool is_pinned() const { return is_pinned_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  Gpu* gpu_ = nullptr;
  char* data_ = nullptr;
  size_t size_ = 0;
  int numa_node_ = -1;
  bool is_pinned_ = false;
};

}  // namespace hipfile
