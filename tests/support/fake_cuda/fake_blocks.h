// SPDX-License-Identifier: MIT
//
// Fake driver: what it allocated, pinned or got from another process, by address.
#pragma once

#include <map>
#include <mutex>

#include "fake_cuda.h"

namespace fake_cuda {

enum class Kind { kDevice, kPool, kImported, kManaged, kHostAllocated, kHostRegistered };

struct Block {
  std::size_t size = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  unsigned flags = 0;
  char* view = nullptr;  // of the device; null: the address itself
  int fd = -1;           // of memory that other processes may open
};

inline bool is_on_device(const Block& block) {
  return block.kind != Kind::kHostAllocated && block.kind != Kind::kHostRegistered;
}

using Blocks = std::map<CUdeviceptr, Block>;
extern std::mutex blocks_mutex;

// These need blocks_mutex. By start address.
Blocks& blocks();
// The block that holds an address, or end.
Blocks::iterator block_of(CUdeviceptr address);
// Gives its memory back and forgets it.
Blocks::iterator drop(Blocks::iterator block);
// Puts a file behind a block of the device, with what is in it; false: that is not possible.
bool make_shareable(Block& block, CUdeviceptr start);

// These take it. On the current device.
CUresult allocate(CUdeviceptr* address, std::size_t size, Kind kind, unsigned flags);
// Another process's memory: the file is the block's from now on, or closed.
CUresult open_shared(CUdeviceptr* address, std::size_t size, int fd);
std::size_t pinned_memory_left();

}  // namespace fake_cuda
