// SPDX-License-Identifier: MIT
//
// Fake driver: start, devices and contexts.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fake_engine.h"

namespace fake_cuda {
namespace {

std::atomic<pid_t> initialized_in{0};
std::atomic<long> calls_left{-1};  // until the device is lost; below 0: it is not to be
std::atomic<CUresult> loss_result{CUDA_SUCCESS};
std::atomic<bool> is_lost{false};
CUctx_st primary_contexts[kMaxDevices];
std::atomic<int> retained[kMaxDevices];

// Without a destructor: exit handlers of the program call the driver too.
struct ContextStack {
  CUcontext contexts[32];
  std::size_t depth;
};
thread_local ContextStack stack;

bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

struct Attribute {
  int number;
  int value;
};

constexpr int kWaitValues = 122;
constexpr int kPciBusId = 33;  // of device 0; the others follow
constexpr CUresult kEccUncorrectable = 214;

// Everything that is not listed is 0.
constexpr Attribute kAttributes[] = {
    {1, 1024}, {2, 1024}, {3, 1024},  {4, 64},       {10, 32}, {13, 1980000}, {16, 132}, {19, 1},
    {31, 1},   {32, 1},   {33, 0x1b}, {38, 1 << 26}, {40, 3},  {41, 1},       {50, 0},   {75, 9},
    {78, 1},   {83, 1},   {91, 1},    {99, 1},       {102, 1}, {115, 1},      {122, 1},  {134, 0},
};

}  // namespace

std::size_t setting(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

bool is_initialized() { return initialized_in.load() == getpid(); }

int device_count() {
  const std::size_t count = setting("FAKE_CUDA_DEVICES", 1);
  return static_cast<int>(count < kMaxDevices ? count : kMaxDevices);
}

std::size_t device_memory() { return setting("FAKE_CUDA_MEMORY", std::size_t{64} << 20); }

CUcontext current_context() { return stack.depth == 0 ? nullptr : stack.contexts[stack.depth - 1]; }

}  // namespace fake_cuda

using namespace fake_cuda;

CUresult fake_cuda::loss() {
  if (loss_result.load() == CUDA_SUCCESS) return CUDA_SUCCESS;
  if (!is_lost.load() && calls_left.fetch_sub(1) <= 0) fault(loss_result.load());
  return is_lost.load() ? loss_result.load() : CUDA_SUCCESS;
}

CUresult fake_cuda::lost_with() { return is_lost.load() ? loss_result.load() : CUDA_SUCCESS; }

void fake_cuda::lose_for_good(CUresult result) {
  loss_result = result;
  is_lost = true;
}

// For tests: after so many calls more all answer `result`; CUDA_SUCCESS: the device is well again.
FAKE_CUDA_API void fakeCudaLose(long calls, CUresult result) {
  is_lost = false;
  calls_left = calls;
  loss_result = result;
}
FAKE_CUDA_API int fakeCudaIsLost(void) { return is_lost.load() ? 1 : 0; }

FAKE_CUDA_API int fakeCudaHasContext(int device) { return retained[device] > 0 ? 1 : 0; }

// For tests: contexts that the calling thread pushed and did not pop.
FAKE_CUDA_API int fakeCudaContextDepth(void) { return static_cast<int>(stack.depth); }

FAKE_CUDA_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  // A parent's driver is of no use to its child.
  if (initialized_in != 0 && !is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = static_cast<CUresult>(setting("FAKE_CUDA_INIT_RESULT", 0));
  if (result != CUDA_SUCCESS) return result;
  for (int device = 0; device < kMaxDevices; ++device) primary_contexts[device].device = device;
  const std::size_t calls = setting("FAKE_CUDA_LOSE_AFTER", SIZE_MAX);
  if (calls != SIZE_MAX) fakeCudaLose(static_cast<long>(calls), kEccUncorrectable);
  initialized_in = getpid();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceGetCount(int* count) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  *count = device_count();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(size), "Fake device %d", device);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceGetUuid(char* uuid, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::memset(uuid, 0xa0 + device, 16);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device_memory();
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = 0;
  for (const Attribute& known : kAttributes) {
    if (known.number == attribute) *value = known.value;
  }
  if (attribute == kWaitValues && setting("FAKE_CUDA_NO_WAIT_VALUE", 0) != 0) *value = 0;
  if (attribute == kPciBusId) *value += device;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (!is_device(device) || !is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer ? 1 : 0;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  ++retained[device];
  *context = &primary_contexts[device];
  return CUDA_SUCCESS;
}

// Takes everything with it; whoever wants the context again has to retain it again.
FAKE_CUDA_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  retained[device] = 0;
  drop_all_of(device);
  free_all_of(device);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (context == nullptr || retained[context->device] == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack.depth == std::size(stack.contexts)) return CUDA_ERROR_OUT_OF_MEMORY;
  stack.contexts[stack.depth++] = context;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (stack.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --stack.depth;
  if (context != nullptr) *context = stack.contexts[stack.depth];
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_CUDA_NEED_CONTEXT();
  *device = current_context()->device;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuCtxSynchronize(void) {
  FAKE_CUDA_NEED_CONTEXT();
  return wait_for_device(current_context()->device);
}

FAKE_CUDA_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_CUDA_NEED_CONTEXT();
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}
