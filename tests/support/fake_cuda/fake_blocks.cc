// SPDX-License-Identifier: MIT
//
// Fake driver: the blocks. Addresses of device memory are closed to the program; the device has a
// view of its own. A file lies behind memory that is given to another process, from then on.

#include "fake_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fake_cuda {
namespace {

constexpr int kUsed = 0xa5;
constexpr std::size_t kMostUsed = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 512;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{1} << 46;

std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

// Without memory of other processes, which counts there.
std::size_t used_by(int device) {
  std::size_t used = 0;
  for (const auto& [start, block] : blocks()) {
    const bool is_here = block.device == device && block.kind != Kind::kImported;
    if (is_on_device(block) && is_here) used += block.size;
  }
  return used + virtual_memory_of(device);
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// A view and the closed addresses, of the same pages.
bool map_twice(std::size_t size, Block* block, void** closed) {
  void* view = block->fd < 0
                   ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                   : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, block->fd, 0);
  if (view == MAP_FAILED) return false;
  // Without a descriptor of its own: tests limit their number.
  *closed = mremap(view, 0, size, MREMAP_MAYMOVE);
  if (*closed == MAP_FAILED || mprotect(*closed, size, PROT_NONE) != 0) {
    if (*closed != MAP_FAILED) munmap(*closed, size);
    munmap(view, size);
    return false;
  }
  block->view = static_cast<char*>(view);
  return true;
}

bool has_view(Kind kind) {
  return kind == Kind::kDevice || kind == Kind::kPool || kind == Kind::kImported;
}

void* get(Block* block) {
  if (!has_view(block->kind)) {
    void* memory = std::aligned_alloc(kAlignment, round_up(block->size, kAlignment));
    // Nobody promises zeros: as if it had been used before.
    if (memory != nullptr) std::memset(memory, kUsed, std::min(block->size, kMostUsed));
    return memory;
  }
  void* closed = nullptr;
  return map_twice(round_up(block->size, kPage), block, &closed) ? closed : nullptr;
}

std::size_t memory_left(const Block& block) {
  if (!is_on_device(block)) return pinned_memory_left();
  return block.kind == Kind::kImported ? SIZE_MAX : free_memory(block.device);
}

CUresult take(CUdeviceptr* address, Block block) {
  const std::size_t left = memory_left(block);
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  void* memory = block.size <= left && block.size <= kMostBytes ? get(&block) : nullptr;
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  blocks()[*address] = block;
  return CUDA_SUCCESS;
}

}  // namespace

std::mutex blocks_mutex;

Blocks& blocks() {
  static auto* all = new Blocks;
  return *all;
}

Blocks::iterator block_of(CUdeviceptr address) {
  auto at = blocks().upper_bound(address);
  if (at == blocks().begin()) return blocks().end();
  --at;
  return address - at->first < at->second.size ? at : blocks().end();
}

Blocks::iterator drop(Blocks::iterator at) {
  const Block& block = at->second;
  if (block.view != nullptr) {
    const std::size_t size = round_up(block.size, kPage);
    munmap(pointer(at->first), size);
    munmap(block.view, size);
  } else if (block.kind != Kind::kHostRegistered) {
    std::free(pointer(at->first));
  }
  if (block.fd >= 0) close(block.fd);
  return blocks().erase(at);
}

CUresult allocate(CUdeviceptr* address, std::size_t size, Kind kind, unsigned flags) {
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  return take(address, {size, kind, current_context()->device, flags, nullptr, -1});
}

CUresult open_shared(CUdeviceptr* address, std::size_t size, int fd) {
  const CUresult result =
      take(address, {size, Kind::kImported, current_context()->device, 0, nullptr, fd});
  if (result != CUDA_SUCCESS) close(fd);
  return result;
}

bool make_shareable(Block& block, CUdeviceptr start) {
  if (block.view == nullptr || block.kind != Kind::kDevice) return false;
  if (block.fd >= 0) return true;
  const std::size_t size = round_up(block.size, kPage);
  const int fd = memfd_create("fake_cuda", MFD_CLOEXEC);
  if (fd < 0) return false;
  const bool is_filled = ftruncate(fd, static_cast<off_t>(size)) == 0 &&
                         pwrite(fd, block.view, size, 0) == static_cast<ssize_t>(size);
  const int flags = MAP_SHARED | MAP_FIXED;
  if (!is_filled || mmap(block.view, size, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED ||
      mmap(pointer(start), size, PROT_NONE, flags, fd, 0) == MAP_FAILED) {
    close(fd);
    return false;
  }
  block.fd = fd;
  return true;
}

std::size_t pinned_memory_left() {
  const std::size_t limit = setting("FAKE_CUDA_PINNED_MEMORY", SIZE_MAX);
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  std::size_t used = 0;
  for (const auto& [start, block] : blocks()) used += is_on_device(block) ? 0 : block.size;
  return used < limit ? limit - used : 0;
}

std::size_t free_memory(int device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const std::size_t used = used_by(device);
  const std::size_t total = device_memory();
  return used < total ? total - used : 0;
}

bool is_range_valid(CUdeviceptr address, std::size_t size) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  return at == blocks().end() || size <= at->second.size - (address - at->first);
}

char* view(CUdeviceptr address) {
  VirtualPlace place;
  if (find_virtual(address, &place)) return place.view;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  const bool is_seen = at != blocks().end() && at->second.view != nullptr;
  return is_seen ? at->second.view + (address - at->first) : static_cast<char*>(pointer(address));
}

bool is_known(CUdeviceptr address) {
  VirtualPlace place;
  if (find_virtual(address, &place)) return true;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  return block_of(address) != blocks().end();
}

bool is_reachable(CUdeviceptr address, std::size_t size, int device, int access) {
  return is_known(address) && is_range_valid(address, size) &&
         is_virtual_open(address, size, device, access);
}

void free_all_of(int device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  for (auto at = blocks().begin(); at != blocks().end();) {
    at = at->second.device == device ? drop(at) : std::next(at);
  }
}

}  // namespace fake_cuda
