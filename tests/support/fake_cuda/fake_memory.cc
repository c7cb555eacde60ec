// SPDX-License-Identifier: MIT
//
// Fake driver: device, managed and pinned memory, pointer queries. Addresses of device memory are
// closed to the program; the device has a view of its own.

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "fake_engine.h"

namespace {

enum class Kind { kDevice, kManaged, kHostAllocated, kHostRegistered };

struct Block {
  std::size_t size = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  unsigned flags = 0;
  char* view = nullptr;  // of the device; null: the address itself
};

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{1} << 46;

std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

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

// All of a range is memory of the process.
bool is_mapped(CUdeviceptr start, std::size_t size) {
  if (size > kMostBytes || start < kPage) return false;
  const CUdeviceptr first = start / kPage * kPage;
  std::vector<unsigned char> pages((start + size - first + kPage - 1) / kPage);
  return mincore(reinterpret_cast<void*>(first), start + size - first, pages.data()) == 0;
}

// Needs blocks_mutex, as all below. The block that holds an address, or end.
std::map<CUdeviceptr, Block>::iterator block_of(CUdeviceptr address) {
  auto at = blocks().upper_bound(address);
  if (at == blocks().begin()) return blocks().end();
  --at;
  return address - at->first < at->second.size ? at : blocks().end();
}

void give_back(CUdeviceptr start, const Block& block) {
  if (block.view == nullptr) return std::free(reinterpret_cast<void*>(start));
  const std::size_t size = round_up(block.size, kPage);
  munmap(reinterpret_cast<void*>(start), size);
  munmap(block.view, size);
}

// Memory of the host, and of the device where the block gets a view.
void* get(Block* block) {
  if (block->kind != Kind::kDevice) {
    return std::aligned_alloc(kAlignment, round_up(block->size, kAlignment));
  }
  const std::size_t size = round_up(block->size, kPage);
  void* view = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (view == MAP_FAILED) return nullptr;
  // A second mapping of the same pages, without a descriptor: tests limit their number.
  void* closed = mremap(view, 0, size, MREMAP_MAYMOVE);
  if (closed == MAP_FAILED || mprotect(closed, size, PROT_NONE) != 0) {
    if (closed != MAP_FAILED) munmap(closed, size);
    munmap(view, size);
    return nullptr;
  }
  block->view = static_cast<char*>(view);
  return closed;
}

CUresult allocate(CUdeviceptr* address, std::size_t size, Kind kind, unsigned flags) {
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  const int device = fake_cuda::current_context()->device;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const bool is_device_memory = kind == Kind::kDevice || kind == Kind::kManaged;
  if (is_device_memory && size > fake_cuda::device_memory() - used_by(device)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Block block{size, kind, device, flags, nullptr};
  void* memory = size <= kMostBytes ? get(&block) : nullptr;
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  blocks()[*address] = block;
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address, bool want_device) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(address);
  if (at == blocks().end() || at->second.kind == Kind::kHostRegistered ||
      is_on_device(at->second) != want_device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  give_back(at->first, at->second);
  blocks().erase(at);
  return CUDA_SUCCESS;
}

}  // namespace

// Device memory must be reached inside one block; all else is plain host memory.
bool fake_cuda::is_range_valid(CUdeviceptr address, std::size_t size) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  return at == blocks().end() || size <= at->second.size - (address - at->first);
}

char* fake_cuda::view(CUdeviceptr address) {
  VirtualPlace place;
  if (find_virtual(address, &place)) return place.view;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  const bool has_view = at != blocks().end() && at->second.view != nullptr;
  return has_view ? at->second.view + (address - at->first) : reinterpret_cast<char*>(address);
}

bool fake_cuda::is_known(CUdeviceptr address) {
  VirtualPlace place;
  if (find_virtual(address, &place)) return true;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  return block_of(address) != blocks().end();
}

bool fake_cuda::is_reachable(CUdeviceptr address, std::size_t size, int device, int access) {
  return is_known(address) && is_range_valid(address, size) &&
         is_virtual_open(address, size, device, access);
}

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
    if (at->second.kind != Kind::kHostRegistered) give_back(at->first, at->second);
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
  if (address == 0) return CUDA_SUCCESS;
  const CUresult drained = fake_cuda::drain(fake_cuda::current_context()->device);
  return drained != CUDA_SUCCESS ? drained : release(address, true);
}

FAKE_CUDA_API CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t size,
                                       CUstream /*stream*/) {
  return cuMemAlloc_v2(address, size);
}

FAKE_CUDA_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  {
    const std::lock_guard<std::mutex> lock(blocks_mutex);
    const auto at = blocks().find(address);
    if (at == blocks().end() || !is_on_device(at->second)) return CUDA_ERROR_INVALID_VALUE;
  }
  return fake_cuda::queue(stream, [address] {
    static_cast<void>(release(address, true));
    return true;
  });
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
  const CUresult drained = fake_cuda::drain(fake_cuda::current_context()->device);
  return drained != CUDA_SUCCESS ? drained : release(reinterpret_cast<CUdeviceptr>(pointer), false);
}

FAKE_CUDA_API CUresult cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (pointer == nullptr || size == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  const auto start = reinterpret_cast<CUdeviceptr>(pointer);
  if (!is_mapped(start, size)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto next = blocks().lower_bound(start);
  if (block_of(start) != blocks().end() || (next != blocks().end() && next->first < start + size)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  blocks()[start] =
      Block{size, Kind::kHostRegistered, fake_cuda::current_context()->device, flags, nullptr};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemHostUnregister(void* pointer) {
  FAKE_CUDA_NEED_CONTEXT();
  const CUresult drained = fake_cuda::drain(fake_cuda::current_context()->device);
  if (drained != CUDA_SUCCESS) return drained;
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
    return {
        2,           false, false, place.device, place.reservation, place.reserved, place.mapping,
        place.mapped};
  }
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  if (at == blocks().end()) return {};
  const Block& block = at->second;
  // Managed memory counts as device memory.
  return {is_on_device(block) ? 2U : 1U,
          block.kind != Kind::kDevice,
          block.kind == Kind::kManaged,
          block.device,
          at->first,
          block.size,
          at->first,
          block.size};
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
      case 2:
        *static_cast<unsigned*>(value) = answer.type;
        break;
      case 3:
        *static_cast<CUdeviceptr*>(value) = answer.type != 0 ? address : 0;
        break;
      case 4:
        *static_cast<CUdeviceptr*>(value) = answer.is_host ? address : 0;
        break;
      case 8:
        *static_cast<unsigned char*>(value) = answer.is_managed ? 1 : 0;
        break;
      case 9:
        *static_cast<int*>(value) = answer.device;
        break;
      case 11:
        *static_cast<CUdeviceptr*>(value) = answer.start;
        break;
      case 12:
        *static_cast<std::size_t*>(value) = answer.size;
        break;
      case 18:
        *static_cast<std::size_t*>(value) = answer.mapped;
        break;
      case 19:
        *static_cast<CUdeviceptr*>(value) = answer.mapping;
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}
