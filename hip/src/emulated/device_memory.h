// SPDX-License-Identifier: MIT
//
// The memory of all emulated devices: one double mapping, a slice of it for each device, and the
// blocks that are allocated in it. The addresses of a device are valid in one constant distance
// from where the runtime itself works on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../mutex.h"
#include "double_mapping.h"
#include "extents.h"
#include "residency.h"

namespace hip_portable::emulated {

struct Block {
  Extent place;             // what is taken of the mapping
  std::size_t size = 0;     // what was asked for
  int device = 0;
  unsigned flags = 0;
};

class DeviceMemory {
 public:
  // `limit` bytes for each of `devices`. Takes addresses only. Where the address space is limited
  // (ulimit -v), the devices become smaller.
  bool start(int devices, std::uint64_t limit, bool is_strict);

  // Memory that has no address for the program. Nothing when the device is full.
  std::optional<Block> take(int device, std::size_t size, unsigned flags);
  // Null when the device is full.
  void* allocate(int device, std::size_t size, unsigned flags);
  bool contains(const void* pointer) const { return mapping_.contains(pointer); }
  // The block that holds the address.
  std::optional<Block> find(const void* pointer) const;
  void* base_of(const Block& block) const { return mapping_.program() + block.place.start; }

  // Removes a block from the index, so that its addresses are unknown; its memory stays until
  // give_back. Nothing if no block begins there.
  std::optional<Block> detach(const void* base);
  void give_back(const Block& block);
  std::vector<Block> detach_all(int device);

  // Where the runtime reads and writes the bytes behind a pointer. Takes their memory. A pointer
  // that is no device pointer is answered unchanged.
  void* work_on(const void* pointer, std::size_t size);

  // Takes the memory of a part of a block.
  void touch(const Block& block, std::size_t offset, std::size_t size);
  // Maps the beginning of a block once more, for reading and writing. False: what stands at `at` is
  // unknown.
  bool show(const Block& block, std::size_t size, void* at) const;

  // Memory of another kind that counts as the device's.
  bool charge(int device, std::size_t size);
  void discharge(int device, std::size_t size);

  // Bytes that one block can still have, and that an empty device has: whole pages.
  std::size_t left(int device) const;
  std::size_t limit() const { return limit_; }

 private:
  struct Slice {
    Extents free;
    std::size_t used = 0;
  };

  std::size_t offset_of(const void* pointer) const;
  std::optional<Block> take_locked(int device, std::size_t size, unsigned flags)
      HIP_PORTABLE_REQUIRES(mutex_);
  bool keep_in_pool(std::size_t bytes);
  void return_to_slice(const Block& block) HIP_PORTABLE_REQUIRES(mutex_);

  DoubleMapping mapping_;
  std::unique_ptr<Residency> residency_;
  std::size_t limit_ = 0;
  std::size_t pool_limit_ = 0;  // of freed memory that is kept for the next allocation
  bool is_strict_ = false;

  mutable Mutex mutex_;
  std::vector<Slice> slices_ HIP_PORTABLE_GUARDED_BY(mutex_);
  std::map<std::size_t, Block> blocks_ HIP_PORTABLE_GUARDED_BY(mutex_);  // by place.start
  std::size_t pooled_ HIP_PORTABLE_GUARDED_BY(mutex_) = 0;  // touched bytes of whole free units
};

}  // namespace hip_portable::emulated
