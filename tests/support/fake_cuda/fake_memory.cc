// SPDX-License-Identifier: MIT
//
// Fake driver: device, managed and pinned memory.

#include <sys/mman.h>

#include <vector>

#include "fake_blocks.h"
#include "fake_engine.h"

using namespace fake_cuda;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{1} << 46;

// All of a range is memory of the process.
bool is_mapped(CUdeviceptr start, std::size_t size) {
  if (size > kMostBytes || start < kPage) return false;
  const CUdeviceptr first = start / kPage * kPage;
  std::vector<unsigned char> pages((start + size - first + kPage - 1) / kPage);
  return mincore(reinterpret_cast<void*>(first), start + size - first, pages.data()) == 0;
}

bool is_releasable(const Block& block, bool is_device_memory) {
  return is_on_device(block) == is_device_memory && block.kind != Kind::kHostRegistered &&
         block.kind != Kind::kImported;
}

CUresult release(CUdeviceptr address, bool is_device_memory) {
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(address);
  if (at == blocks().end() || !is_releasable(at->second, is_device_memory)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  drop(at);
  return CUDA_SUCCESS;
}

CUresult drain_current() { return drain(current_context()->device); }

}  // namespace

FAKE_CUDA_API CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CUDA_NEED_CONTEXT();
  *total = device_memory();
  *free = free_memory(current_context()->device);
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
  const CUresult drained = drain_current();
  return drained != CUDA_SUCCESS ? drained : release(address, true);
}

// What the stream frees before is there for it.
FAKE_CUDA_API CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult result = allocate(address, size, Kind::kPool, 0);
  if (result != CUDA_ERROR_OUT_OF_MEMORY || size > fake_cuda::device_memory()) return result;
  const CUresult waited = fake_cuda::wait_for(stream);
  return waited != CUDA_SUCCESS ? waited : allocate(address, size, Kind::kPool, 0);
}

FAKE_CUDA_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  const StreamHold stream = find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  {
    const std::lock_guard<std::mutex> lock(blocks_mutex);
    const auto at = blocks().find(address);
    if (at == blocks().end() || !is_releasable(at->second, true)) return CUDA_ERROR_INVALID_VALUE;
  }
  return queue(stream, [address] {
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
  const CUresult drained = drain_current();
  return drained != CUDA_SUCCESS ? drained : release(reinterpret_cast<CUdeviceptr>(pointer), false);
}

FAKE_CUDA_API CUresult cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  if (pointer == nullptr || size == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  const auto start = reinterpret_cast<CUdeviceptr>(pointer);
  if (!is_mapped(start, size)) return CUDA_ERROR_INVALID_VALUE;
  if (size > pinned_memory_left()) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto next = blocks().lower_bound(start);
  if (block_of(start) != blocks().end() || (next != blocks().end() && next->first < start + size)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  blocks()[start] =
      Block{size, Kind::kHostRegistered, current_context()->device, flags, nullptr, -1};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemHostUnregister(void* pointer) {
  FAKE_CUDA_NEED_CONTEXT();
  const CUresult drained = drain_current();
  if (drained != CUDA_SUCCESS) return drained;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(reinterpret_cast<CUdeviceptr>(pointer));
  if (at == blocks().end() || at->second.kind != Kind::kHostRegistered) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  drop(at);
  return CUDA_SUCCESS;
}
