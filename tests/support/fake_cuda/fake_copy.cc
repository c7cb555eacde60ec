// SPDX-License-Identifier: MIT
//
// Fake driver: copies and fills. Plain host memory is read before the call returns, and written
// before it returns too; all else when the stream gets there.

#include <cstring>
#include <vector>

#include "fake_engine.h"

namespace {

// What the device may not use, it does not; a range that leaves its allocation is refused.
bool is_right(CUdeviceptr address, std::size_t size, int access) {
  const int device = fake_cuda::current_context()->device;
  return fake_cuda::is_virtual_open(address, size, device, access) &&
         fake_cuda::is_range_valid(address, size);
}

}  // namespace

FAKE_CUDA_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size,
                                     CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  fake_cuda::admit();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_right(to, size, 3) || !is_right(from, size, 1)) return CUDA_ERROR_INVALID_VALUE;
  char* const target = fake_cuda::view(to);
  const char* const source = fake_cuda::view(from);
  if (!fake_cuda::is_known(from)) {
    return fake_cuda::queue(stream, [=, staged = std::vector<char>(source, source + size)] {
      std::memmove(target, staged.data(), size);
      return true;
    });
  }
  const CUresult queued = fake_cuda::queue(stream, [=] {
    std::memmove(target, source, size);
    return true;
  });
  if (queued != CUDA_SUCCESS || fake_cuda::is_known(to)) return queued;
  return fake_cuda::wait_for(stream);
}

FAKE_CUDA_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                       CUstream handle) {
  FAKE_CUDA_NEED_CONTEXT();
  fake_cuda::admit();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_right(to, count, 3)) return CUDA_ERROR_INVALID_VALUE;
  return fake_cuda::queue(stream, [=, target = fake_cuda::view(to)] {
    std::memset(target, value, count);
    return true;
  });
}
