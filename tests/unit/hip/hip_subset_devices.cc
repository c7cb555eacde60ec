// SPDX-License-Identifier: MIT
//
// Bad calls: devices, contexts, errors, code.

#include <hip/hip_runtime.h>

#include <climits>

#include "hip_subset_test.h"

// The symbol that the macro of the header hides.
#undef hipGetDeviceProperties
extern "C" hipError_t hipGetDeviceProperties(hipDeviceProp_tR0600* prop, int deviceId);
// Stand in no header, as with AMD's runtime.
extern "C" hipError_t hipAmdFileRead(hipAmdFileHandle_t, void*, uint64_t, int64_t, uint64_t*,
                                     int32_t*);
extern "C" hipError_t hipAmdFileWrite(hipAmdFileHandle_t, void*, uint64_t, int64_t, uint64_t*,
                                      int32_t*);

namespace hip_test {
namespace {

constexpr hipError_t kValue = hipErrorInvalidValue;
constexpr hipError_t kDevice = hipErrorInvalidDevice;

int number;
char text[64];
hipDevice_t device;
hipDeviceProp_t properties;
hipUUID uuid;
hipCtx_t context;
hipModule_t module;
hipFunction_t function;
void* address;
const char* name;
int32_t status;
uint64_t copied;
hipDeviceAttribute_t unknown_attribute = static_cast<hipDeviceAttribute_t>(16000);

}  // namespace

std::vector<BadCall> bad_calls_of_devices() {
  return {
      HIP_BAD(hipInit, kValue, 1),
      HIP_BAD(hipRuntimeGetVersion, kValue, nullptr),
      HIP_BAD(hipDriverGetVersion, kValue, nullptr),
      HIP_BAD(hipSetDevice, kDevice, -1),
      HIP_BAD(hipSetDevice, kDevice, INT_MAX),
      HIP_BAD(hipGetDevice, kValue, nullptr),
      HIP_BAD(hipGetDeviceCount, kValue, nullptr),
      HIP_BAD(hipDeviceGet, kValue, nullptr, 0),
      HIP_BAD(hipDeviceGet, kDevice, &device, -1),
      HIP_BAD(hipDeviceGetAttribute, kValue, nullptr, hipDeviceAttributeWarpSize, 0),
      HIP_BAD(hipDeviceGetAttribute, kValue, &number, unknown_attribute, 0),
      HIP_BAD(hipDeviceGetAttribute, kDevice, &number, hipDeviceAttributeWarpSize, INT_MIN),
      HIP_BAD(hipDeviceGetName, kValue, nullptr, 64, 0),
      HIP_BAD(hipDeviceGetName, kValue, text, 0, 0),
      HIP_BAD(hipDeviceGetName, kValue, text, -1, 0),
      HIP_BAD(hipDeviceGetName, kDevice, text, 64, -1),
      HIP_BAD(hipDeviceGetUuid, kValue, nullptr, 0),
      HIP_BAD(hipDeviceGetUuid, kDevice, &uuid, -1),
      HIP_BAD(hipDeviceGetPCIBusId, kValue, nullptr, 64, 0),
      HIP_BAD(hipDeviceGetPCIBusId, kValue, text, 12, 0),
      HIP_BAD(hipDeviceGetPCIBusId, kValue, text, -1, 0),
      HIP_BAD(hipDeviceGetPCIBusId, kDevice, text, 64, -1),
      HIP_BAD(hipGetDeviceProperties, kValue, nullptr, 0),
      HIP_BAD(hipGetDeviceProperties, kDevice, &properties, -1),
      HIP_BAD(hipGetDevicePropertiesR0600, kValue, nullptr, 0),
      HIP_BAD(hipGetDevicePropertiesR0600, kDevice, &properties, -1),
      HIP_BAD(hipDeviceCanAccessPeer, kValue, nullptr, 0, 0),
      HIP_BAD(hipDeviceCanAccessPeer, kDevice, &number, -1, 0),
      HIP_BAD(hipDeviceCanAccessPeer, kDevice, &number, 0, INT_MAX),
      HIP_BAD(hipCtxCreate, kValue, nullptr, 0, 0),
      HIP_BAD(hipCtxCreate, kValue, &context, 0x8000, 0),
      HIP_BAD(hipCtxCreate, kDevice, &context, 0, -1),
      HIP_BAD(hipCtxDestroy, kValue, nullptr),
      HIP_BAD(hipCtxDestroy, kValue, minus_one<hipCtx_t>()),

      HIP_BAD(hipDrvGetErrorName, kValue, hipSuccess, nullptr),
      HIP_BAD(hipDrvGetErrorName, kValue, static_cast<hipError_t>(2000), &name),
      HIP_BAD(hipDrvGetErrorString, kValue, hipSuccess, nullptr),
      HIP_BAD(hipDrvGetErrorString, kValue, static_cast<hipError_t>(2000), &name),

      HIP_BAD(hipGetProcAddress, kValue, nullptr, &address, 0, 0, nullptr),
      HIP_BAD(hipGetProcAddress, kValue, "", &address, 0, 0, nullptr),
      HIP_BAD(hipGetProcAddress, kValue, "hipFree", nullptr, 0, 0, nullptr),
      HIP_BAD(hipGetProcAddress, hipErrorNotFound, "hip", &address, INT_MAX, ~uint64_t{0}, nullptr),
      HIP_BAD(hipModuleLoadData, kValue, nullptr, "code"),
      HIP_BAD(hipModuleLoadData, kValue, &module, nullptr),
      HIP_BAD(hipModuleUnload, hipErrorInvalidHandle, nullptr),
      HIP_BAD(hipModuleGetFunction, kValue, nullptr, unknown<hipModule_t>(), "kernel"),
      HIP_BAD(hipModuleGetFunction, kValue, &function, unknown<hipModule_t>(), nullptr),
      HIP_BAD(hipModuleGetFunction, hipErrorInvalidHandle, &function, unknown<hipModule_t>(), "k"),
      HIP_BAD(hipModuleLaunchKernel, kValue, nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
              nullptr),
      HIP_BAD(hipModuleLaunchKernel, hipErrorInvalidDeviceFunction, unknown<hipFunction_t>(), 1, 1,
              1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
      HIP_BAD(hipLaunchKernel, kValue, nullptr, dim3(1), dim3(1), nullptr, 0, nullptr),
      HIP_BAD(hipLaunchKernel, hipErrorInvalidDeviceFunction, text, dim3(1), dim3(1), nullptr,
              SIZE_MAX, nullptr),

      HIP_BAD(hipAmdFileRead, kValue, {}, nullptr, 4096, 0, nullptr, &status),
      HIP_BAD(hipAmdFileRead, kValue, {}, nullptr, 4096, 0, &copied, nullptr),
      HIP_BAD(hipPortableFileRead, kValue, 0, nullptr, 4096, 0, nullptr, &status),
      HIP_BAD(hipPortableFileRead, kValue, 0, nullptr, 4096, 0, &copied, nullptr),
      HIP_BAD(hipAmdFileWrite, kValue, {}, nullptr, 4096, 0, nullptr, &status),
      HIP_BAD(hipAmdFileWrite, kValue, {}, nullptr, 4096, 0, &copied, nullptr),
  };
}

}  // namespace hip_test
