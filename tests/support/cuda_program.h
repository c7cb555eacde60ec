// SPDX-License-Identifier: MIT
//
// NVIDIA's driver as a program uses it beside HIP, as frameworks do: found by the same name as the
// runtime finds it, real or fake.
#pragma once

#include "cuda/cuda_driver.h"

namespace hipfile::test {

struct CudaPoolTag;
using CudaPool = CudaPoolTag*;

// CUmemPoolProps
struct CudaPoolProperties {
  int type;
  int handle_types;
  hip_portable::cuda::Location location;
  void* win32_data;
  size_t max_size;
  unsigned char reserved[56];
};
static_assert(sizeof(CudaPoolProperties) == 88);

// CUipcMemHandle
struct CudaIpcHandle {
  char bytes[64];
};

constexpr int kCudaHandleIsDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr unsigned kCudaIpcLazyPeerAccess = 1;

// What the runtime has no use for; names as in Driver.
#define HIPFILE_TEST_CUDA_FUNCTIONS(X)                                                             \
  X(pool_create, "cuMemPoolCreate", (CudaPool * pool, const CudaPoolProperties* properties))       \
  X(pool_destroy, "cuMemPoolDestroy", (CudaPool pool))                                             \
  X(mem_alloc_from_pool, "cuMemAllocFromPoolAsync",                                                \
    (hip_portable::cuda::DevicePtr * address, size_t size, CudaPool pool,                          \
     hip_portable::cuda::Stream stream))                                                           \
  X(mem_export, "cuMemExportToShareableHandle",                                                    \
    (int* fd, hip_portable::cuda::AllocationHandle handle, int type, unsigned long long flags))    \
  X(mem_import, "cuMemImportFromShareableHandle",                                                  \
    (hip_portable::cuda::AllocationHandle * handle, void* fd, int type))                           \
  X(ipc_get, "cuIpcGetMemHandle", (CudaIpcHandle * handle, hip_portable::cuda::DevicePtr address)) \
  X(ipc_open, "cuIpcOpenMemHandle_v2",                                                             \
    (hip_portable::cuda::DevicePtr * address, CudaIpcHandle handle, unsigned flags))               \
  X(ipc_close, "cuIpcCloseMemHandle", (hip_portable::cuda::DevicePtr address))

struct CudaCalls : hip_portable::cuda::Driver {
#define HIPFILE_TEST_CUDA_MEMBER(member, symbol, parameters) \
  hip_portable::cuda::Result(*member) parameters = nullptr;
  HIPFILE_TEST_CUDA_FUNCTIONS(HIPFILE_TEST_CUDA_MEMBER)
#undef HIPFILE_TEST_CUDA_MEMBER
};

// Opened and started at the first call; ends the program where there is none.
const CudaCalls& cuda();

// The primary context of the first device is the thread's current one until the object ends.
class InCudaContext {
 public:
  InCudaContext();
  ~InCudaContext();
  InCudaContext(const InCudaContext&) = delete;
  InCudaContext& operator=(const InCudaContext&) = delete;
};

}  // namespace hipfile::test
