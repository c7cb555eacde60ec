// SPDX-License-Identifier: MIT
//
// State shared by the files of the fake driver: a libcuda.so.1 that answers from RAM, for exactly
// the functions that the runtime's CUDA device calls. It is strict where the real one is: nothing
// works before cuInit, nearly nothing without a current context, and nothing in a child of fork.
// fake_engine.h says how streams run.
//
//   FAKE_CUDA_DEVICES        number of devices (1)
//   FAKE_CUDA_MEMORY         bytes of each device (64 MiB)
//   FAKE_CUDA_PINNED_MEMORY  bytes of host memory that may be pinned (no bound)
//   FAKE_CUDA_INIT_RESULT    what cuInit answers (0)
//   FAKE_CUDA_LOSE_AFTER     calls until the device is lost (never)
//   FAKE_CUDA_NO_JIT         1: code is not translated; 2: there is no memory for it (0)
//   FAKE_CUDA_NO_WAIT_VALUE  1: streams wait for no value (0)
#pragma once

#include <cstddef>
#include <cstdint>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;

constexpr CUresult CUDA_SUCCESS = 0;
constexpr CUresult CUDA_ERROR_INVALID_VALUE = 1;
constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
constexpr CUresult CUDA_ERROR_NOT_INITIALIZED = 3;
constexpr CUresult CUDA_ERROR_INVALID_DEVICE = 101;
constexpr CUresult CUDA_ERROR_INVALID_CONTEXT = 201;
constexpr CUresult CUDA_ERROR_INVALID_HANDLE = 400;
constexpr CUresult CUDA_ERROR_NOT_READY = 600;
constexpr CUresult CUDA_ERROR_ILLEGAL_ADDRESS = 700;
constexpr CUresult CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712;
constexpr CUresult CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713;
constexpr CUresult CUDA_ERROR_LAUNCH_FAILED = 719;
constexpr CUresult CUDA_ERROR_NOT_PERMITTED = 800;
constexpr CUresult CUDA_ERROR_NOT_SUPPORTED = 801;

struct CUctx_st {
  int device = 0;
};
using CUcontext = CUctx_st*;

namespace fake_cuda {

constexpr int kMaxDevices = 16;

bool is_initialized();
// What every call of a lost device answers; counts the calls until then.
CUresult loss();
// The same, not counted.
CUresult lost_with();
void lose_for_good(CUresult result);
// The calling thread runs host functions, where no call of the driver is allowed.
bool is_host_function_thread();
// The number in an environment variable.
std::size_t setting(const char* name, std::size_t otherwise);
int device_count();
std::size_t device_memory();
// Bytes that are left of a device; what is created there without an address.
std::size_t free_memory(int device);
std::size_t virtual_memory_of(int device);

// Where an address lies in virtual memory; `mapped` is 0 where there is none.
struct VirtualPlace {
  CUdeviceptr reservation = 0;
  std::size_t reserved = 0;
  CUdeviceptr mapping = 0;
  std::size_t mapped = 0;
  int device = 0;
  char* view = nullptr;  // of the address, for the device
};
bool find_virtual(CUdeviceptr address, VirtualPlace* place);
// Whether a device has access (1: to read, 3: to write too) to a range, if it is a reserved one.
bool is_virtual_open(CUdeviceptr address, std::size_t size, int device, int access);
// Where the device finds the byte at an address, and those after it in the same range.
char* view(CUdeviceptr address);
// Device, managed or pinned memory, or a reserved address.
bool is_known(CUdeviceptr address);
// A range that leaves its allocation is not; one of plain host memory is.
bool is_range_valid(CUdeviceptr address, std::size_t size);
// Whether work of a device reaches all of a range: what it may use of its memory, and pinned
// memory.
bool is_reachable(CUdeviceptr address, std::size_t size, int device, int access);

// The calling thread's current context, or null.
CUcontext current_context();
// Frees and unregisters all memory of a device.
void free_all_of(int device);

}  // namespace fake_cuda

#define FAKE_CUDA_API extern "C" __attribute__((visibility("default")))

// First line of every call that needs a context.
#define FAKE_CUDA_NEED_CONTEXT()                                                  \
  if (!fake_cuda::is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;            \
  if (fake_cuda::is_host_function_thread()) return CUDA_ERROR_NOT_PERMITTED;      \
  if (const CUresult loss = fake_cuda::loss(); loss != CUDA_SUCCESS) return loss; \
  if (fake_cuda::current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT
