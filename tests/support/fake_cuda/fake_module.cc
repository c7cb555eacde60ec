// SPDX-License-Identifier: MIT
//
// Fake driver: code. It knows one kernel, the late-bound copy, and does what that does when it is
// launched the way it must be. A test may ask how often code was loaded and launched.

#include <atomic>
#include <cstring>

#include "fake_cuda.h"

struct CUmod_st {};
struct CUfunc_st {};
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;

namespace {

constexpr char kKernel[] = "hip_portable_indirect_copy";

CUmod_st the_module;
CUfunc_st the_function;
std::atomic<int> loads{0};
std::atomic<int> copies{0};

// hipPortableIndirectCopy_t
struct Descriptor {
  void* destination;
  const void* source;
  std::uint64_t size;
  std::uint64_t* flag;
  std::uint64_t flag_value;
};

void copy(const Descriptor* descriptor) {
  Descriptor read;
  std::memcpy(&read, descriptor, sizeof(read));
  if (read.size != 0) std::memmove(read.destination, read.source, read.size);
  if (read.flag != nullptr) __atomic_store_n(read.flag, read.flag_value, __ATOMIC_RELEASE);
}

}  // namespace

// For tests.
FAKE_CUDA_API int fakeCudaModuleLoads(void) { return loads.load(); }
FAKE_CUDA_API int fakeCudaIndirectCopies(void) { return copies.load(); }

FAKE_CUDA_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_CUDA_NEED_CONTEXT();
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_translated = fake_cuda::setting("FAKE_CUDA_NO_JIT", 0) == 0;
  if (!is_translated) return 223;  // CUDA_ERROR_JIT_COMPILATION_DISABLED
  if (std::strstr(static_cast<const char*>(image), kKernel) == nullptr) return 200;
  ++loads;
  *module = &the_module;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                           const char* name) {
  FAKE_CUDA_NEED_CONTEXT();
  if (module != &the_module) return CUDA_ERROR_INVALID_HANDLE;
  if (std::strcmp(name, kKernel) != 0) return 500;  // CUDA_ERROR_NOT_FOUND
  *function = &the_function;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, void* stream,
                                      void** parameters, void** extra) {
  FAKE_CUDA_NEED_CONTEXT();
  if (function != &the_function || !fake_cuda::is_stream(stream)) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const bool is_two_blocks = grid_x == 2 && grid_y == 1 && grid_z == 1;
  const bool is_full = block_x == 1024 && block_y == 1 && block_z == 1;
  if (!is_two_blocks || !is_full || shared_bytes != 0 || extra != nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto* const descriptor = *static_cast<const Descriptor**>(parameters[0]);
  if (descriptor == nullptr) return CUDA_SUCCESS;
  ++copies;
  copy(descriptor);
  return CUDA_SUCCESS;
}
