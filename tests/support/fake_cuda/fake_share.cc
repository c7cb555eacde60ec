// SPDX-License-Identifier: MIT
//
// Fake driver: memory of pools, and memory of another process, which opens the file behind it.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "fake_blocks.h"
#include "fake_engine.h"

using namespace fake_cuda;

namespace {

// In the 64 bytes of CUipcMemHandle.
struct Share {
  pid_t process;
  int fd;
  std::size_t size;
};
struct IpcHandle {
  char bytes[64];
};
static_assert(sizeof(Share) <= sizeof(IpcHandle));

// CUmemPoolProps, up to what is looked at.
struct PoolProperties {
  int type;
  int handle_types;
  int location_type;
  int device;
};

int open_file_of(const Share& share) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", static_cast<int>(share.process), share.fd);
  return open(path, O_RDWR | O_CLOEXEC);
}

}  // namespace

struct CUmemPool_st {
  int device = 0;
};

FAKE_CUDA_API CUresult cuMemPoolCreate(CUmemPool_st** pool, const PoolProperties* properties) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (properties->type != 1 || properties->location_type != 1) return CUDA_ERROR_INVALID_VALUE;
  *pool = new CUmemPool_st{properties->device};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemPoolDestroy(CUmemPool_st* pool) {
  delete pool;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t size,
                                               CUmemPool_st* pool, CUstream stream) {
  FAKE_CUDA_NEED_CONTEXT();
  if (find_stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (pool->device != current_context()->device) return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, size, Kind::kPool, 0);
}

FAKE_CUDA_API CUresult cuIpcGetMemHandle(IpcHandle* handle, CUdeviceptr address) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(address);
  if (at == blocks().end() || !make_shareable(at->second, address)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Share share{getpid(), at->second.fd, at->second.size};
  std::memset(handle, 0, sizeof(*handle));
  std::memcpy(handle, &share, sizeof(share));
  return CUDA_SUCCESS;
}

// Not in the process that gave the handle, as the real one refuses it.
FAKE_CUDA_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, IpcHandle handle,
                                             unsigned flags) {
  FAKE_CUDA_NEED_CONTEXT();
  Share share;
  std::memcpy(&share, &handle, sizeof(share));
  if (flags != 1 || share.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  const int fd = open_file_of(share);
  return fd >= 0 ? open_shared(address, share.size, fd) : CUDA_ERROR_INVALID_VALUE;
}

FAKE_CUDA_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  FAKE_CUDA_NEED_CONTEXT();
  const CUresult drained = drain(current_context()->device);
  if (drained != CUDA_SUCCESS) return drained;
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = blocks().find(address);
  if (at == blocks().end() || at->second.kind != Kind::kImported) return CUDA_ERROR_INVALID_VALUE;
  drop(at);
  return CUDA_SUCCESS;
}
