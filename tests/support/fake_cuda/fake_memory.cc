// SPDX-License-Identifier: MIT
//
// Fake driver: device, managed and pinned memory, pointer queries, copies. Addresses are those of
// the heap, so that a test may look at "device" memory.

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "fake_cuda.h"

namespace {

enum class Kind { kDevice, kManaged, kHostAllocated, kHostRegistered };

struct Block {
  std::size_t size = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  unsigned flags = 0;
};

constexpr std::size_t kAlignment = 512;

std::mutex blocks_mutex;
// By start address.
std::map<CUdeviceptr, Block>& blocks() {
  static auto* all = new std::map<CUdeviceptr, Block>;
  return *all;
}

bool is_on_device(const Block& block) {
  return block.kind == Kind::kDevice || block.kind == Kind::kManaged;
}

std::size_t used_by(int device) {
  std::size_t used = 0;
  for (const auto& [start, block] : blocks()) {
    if (is_on_device(block) && block.device == device) used += block.size;
  }
  return used + fake_cuda::virtual_memory_of(device);
}

// Needs blocks_mutex, as all below. The block that holds an address, or end.
std::map<CUdeviceptr, Block>::iterator block_of(CUdeviceptr address) {
  auto at = blocks().upper_bound(address);
  if (at == blocks().begin()) return blocks().end();
  --at;
  return address - at->first < at->second.size ? at : blocks().end();
}

CUresult allocate(CUdeviceptr* address, std::size_t size, Kind kind, unsigned flags) {
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  const int device = fake_cuda::current_context()->device;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const bool is_device_memory = kind == Kind::kDevice || kind == Kind::kManaged;
  if (is_device_memory && size > fake_cuda::device_memory() - used_by(device)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void* memory = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  blocks()[*address] = Block{size, kind, device, flags};
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address, bool want_device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(address);
  if (at == blocks().end() || at->second.kind == Kind::kHostRegistered ||
      is_on_device(at->second) != want_device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  blocks().erase(at);
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}

// Device memory must be reached inside one block; all else is plain host memory.
bool is_range_valid(CUdeviceptr address, std::size_t size) {
  const auto at = block_of(address);
  return at == blocks().end() || size <= at->second.size - (address - at->first);
}

// Needs the context. What the device may not use, it does not.
bool is_open(CUdeviceptr address, std::size_t size, int access) {
  return fake_cuda::is_virtual_open(address, size, fake_cuda::current_context()->device, access);
}

}  // namespace

std::size_t fake_cuda::free_memory(int device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  return device_memory() - used_by(device);
}

void fake_cuda::free_all_of(int device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  for (auto at = blocks().begin(); at != blocks().end();) {
    if (at->second.device != device) {
      ++at;
      continue;
    }
    if (at->second.kind != Kind::kHostRegistered) std::free(reinterpret_cast<void*>(at->first));
    at = blocks().erase(at);
  }
}

FAKE_CUDA_API CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  *total = fake_cuda::device_memory();
  *free = *total - used_by(fake_cuda::current_context()->device);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t size) {
  FAKE_CUDA_NEED_CONTEXT();
  return allocate(address, size, Kind::kDevice, 0);
}

FAKE_CUDA_API CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t size, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  return allocate(address, size, Kind::kManaged, flags);
}

FAKE_CUDA_API CUresult cuMemFree_v2(CUdeviceptr address) {
  FAKE_CUDA_NEED_CONTEXT();
  return address == 0 ? CUDA_SUCCESS : release(address, true);
}

FAKE_CUDA_API CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t size, void* /*stream*/) {
  return cuMemAlloc_v2(address, size);
}

FAKE_CUDA_API CUresult cuMemFreeAsync(CUdeviceptr address, void* /*stream*/) {
  return cuMemFree_v2(address);
}

FAKE_CUDA_API CUresult cuMemHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (pointer == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  const CUresult result = allocate(&address, size, Kind::kHostAllocated, flags);
  if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(address);
  return result;
}

FAKE_CUDA_API CUresult cuMemFreeHost(void* pointer) {
  FAKE_CUDA_NEED_CONTEXT();
  return release(reinterpret_cast<CUdeviceptr>(pointer), false);
}

FAKE_CUDA_API CUresult cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (pointer == nullptr || size == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  const auto start = reinterpret_cast<CUdeviceptr>(pointer);
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto next = blocks().lower_bound(start);
  if (block_of(start) != blocks().end() ||
      (next != blocks().end() && next->first < start + size)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  blocks()[start] =
      Block{size, Kind::kHostRegistered, fake_cuda::current_context()->device, flags};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemHostUnregister(void* pointer) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(reinterpret_cast<CUdeviceptr>(pointer));
  if (at == blocks().end() || at->second.kind != Kind::kHostRegistered) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  blocks().erase(at);
  return CUDA_SUCCESS;
}

namespace {

// What cuPointerGetAttributes tells of an address; nothing for one that is unknown.
struct Answer {
  unsigned type = 0;
  bool is_host = false;
  bool is_managed = false;
  int device = -2;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUdeviceptr mapping = 0;
  std::size_t mapped = 0;
};

Answer answer_for(CUdeviceptr address) {
  fake_cuda::VirtualPlace place;
  if (fake_cuda::find_virtual(address, &place)) {
    if (place.mapped == 0) return {0, false, false, -2, place.reservation, place.reserved, 0, 0};
    return {2, false, false, place.device, place.reservation, place.reserved, place.mapping,
            place.mapped};
  }
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  if (at == blocks().end()) return {};
  const Block& block = at->second;
  // Managed memory counts as device memory.
  return {is_on_device(block) ? 2U : 1U, block.kind != Kind::kDevice,
          block.kind == Kind::kManaged,  block.device,
          at->first,                     block.size,
          at->first,                     block.size};
}

}  // namespace

// The real one succeeds for unknown pointers too, with zeros and an ordinal of -2. It needs no
// context.
FAKE_CUDA_API CUresult cuPointerGetAttributes(unsigned count, int* which, void** values,
                                              CUdeviceptr address) {
  if (!fake_cuda::is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const Answer answer = answer_for(address);
  for (unsigned index = 0; index < count; ++index) {
    void* value = values[index];
    switch (which[index]) {
      case 2: *static_cast<unsigned*>(value) = answer.type; break;
      case 3: *static_cast<CUdeviceptr*>(value) = answer.type != 0 ? address : 0; break;
      case 4: *static_cast<CUdeviceptr*>(value) = answer.is_host ? address : 0; break;
      case 8: *static_cast<unsigned char*>(value) = answer.is_managed ? 1 : 0; break;
      case 9: *static_cast<int*>(value) = answer.device; break;
      case 11: *static_cast<CUdeviceptr*>(value) = answer.start; break;
      case 12: *static_cast<std::size_t*>(value) = answer.size; break;
      case 18: *static_cast<std::size_t*>(value) = answer.mapped; break;
      case 19: *static_cast<CUdeviceptr*>(value) = answer.mapping; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size,
                                     void* /*stream*/) {
  FAKE_CUDA_NEED_CONTEXT();
  {
    const std::lock_guard<std::mutex> lock(blocks_mutex);
    if (!is_range_valid(to, size) || !is_range_valid(from, size)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_open(to, size, 3) || !is_open(from, size, 1)) return CUDA_ERROR_INVALID_VALUE;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                       void* /*stream*/) {
  FAKE_CUDA_NEED_CONTEXT();
  {
    const std::lock_guard<std::mutex> lock(blocks_mutex);
    if (!is_range_valid(to, count)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_open(to, count, 3)) return CUDA_ERROR_INVALID_VALUE;
  std::memset(reinterpret_cast<void*>(to), value, count);
  return CUDA_SUCCESS;
}
