// SPDX-License-Identifier: MIT
//
// A HIP runtime that has all names and does nothing: FAKE_VERSION and FAKE_DEVICES say what it
// claims to be. hipMalloc gives the address of one static block, which it then knows.
#include <hip/hip_runtime_api.h>

#include <cstring>

namespace {
char g_block[4096];
bool is_ours(const void* pointer) {
  return pointer >= g_block && pointer < g_block + sizeof g_block;
}
}  // namespace

extern "C" {

hipError_t hipRuntimeGetVersion(int* version) {
  *version = FAKE_VERSION;
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int* count) {
  *count = FAKE_DEVICES;
  return FAKE_DEVICES > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipMalloc(void** pointer, size_t) {
  *pointer = g_block;
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->type = is_ours(pointer) ? hipMemoryTypeDevice : hipMemoryTypeUnregistered;
  return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t) {
  *base = g_block;
  *size = sizeof g_block;
  return hipSuccess;
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned, int) {
  *stream = reinterpret_cast<hipStream_t>(g_block);
  return hipSuccess;
}

const char* hipGetErrorName(hipError_t) { return "an error of the fake"; }

hipError_t hipDeviceGetPCIBusId(char*, int, int) { return hipErrorInvalidDevice; }

hipError_t hipGetProcAddress(const char*, void**, int, uint64_t,
                             hipDriverProcAddressQueryResult*) {
  return hipErrorNotFound;
}

}  // extern "C"
