// SPDX-License-Identifier: MIT
//
// Entry points: start, versions, devices, contexts and the last error.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "entry.h"

using hip_portable::Device;
using hip_portable::Runtime;
using hip_portable::this_thread;
using hip_portable::with_current_device;
using hip_portable::with_device;
using hip_portable::with_runtime;

namespace {

constexpr unsigned kContextFlags =
    hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;

// A context stands for a device and nothing more.
hipCtx_t context_of(int device) {
  return reinterpret_cast<hipCtx_t>(static_cast<std::uintptr_t>(device) + 1);
}

hipError_t copy_text(char* target, int length, const char* text) {
  if (target == nullptr || length <= 0) return hipErrorInvalidValue;
  std::snprintf(target, static_cast<std::size_t>(length), "%s", text);
  return hipSuccess;
}

}  // namespace

hipError_t hipInit(unsigned int flags) {
  return with_runtime([&](Runtime&) { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipRuntimeGetVersion(int* runtimeVersion) {
  if (runtimeVersion == nullptr) return hip_portable::remember(hipErrorInvalidValue);
  *runtimeVersion = HIP_VERSION;
  return hipSuccess;
}

hipError_t hipDriverGetVersion(int* driverVersion) {
  return with_current_device([&](Device& device) {
    return driverVersion == nullptr ? hipErrorInvalidValue : device.driver_version(driverVersion);
  });
}

hipError_t hipSetDevice(int deviceId) {
  return with_device(deviceId, [&](Device&) {
    this_thread().device = deviceId;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* deviceId) {
  return with_runtime([&](Runtime&) {
    if (deviceId == nullptr) return hipErrorInvalidValue;
    *deviceId = this_thread().device;
    return hipSuccess;
  });
}

hipError_t hipGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return with_runtime([&](Runtime& runtime) {
    if (count == nullptr) return hipErrorInvalidValue;
    *count = runtime.device_count();
    return hipSuccess;
  });
}

hipError_t hipDeviceSynchronize() {
  return with_runtime([](Runtime& runtime) {
    const int ordinal = this_thread().device;
    const hipError_t error = runtime.captures().check_device(ordinal);
    return error != hipSuccess ? error : runtime.device(ordinal).synchronize();
  });
}

hipError_t hipDeviceReset() {
  return with_runtime([](Runtime& runtime) {
    const int ordinal = this_thread().device;
    hipError_t error = runtime.captures().check_device(ordinal);
    if (error == hipSuccess) error = runtime.device(ordinal).synchronize();
    if (error != hipSuccess) return error;
    runtime.streams().remove_device(ordinal);
    runtime.events().remove_device(ordinal);
    runtime.kernels().remove_device(ordinal);
    runtime.modules().remove_device(ordinal);
    return runtime.device(ordinal).reset();
  });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return with_device(ordinal, [&](Device&) {
    if (device == nullptr) return hipErrorInvalidValue;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetAttribute(int* pi, hipDeviceAttribute_t attr, int deviceId) {
  return with_runtime([&](Runtime& runtime) {
    if (!runtime.is_device(deviceId)) return hipErrorInvalidDevice;
    if (pi == nullptr) return hipErrorInvalidValue;
    const hipError_t error = runtime.device(deviceId).attribute(attr, pi);
    if (attr == hipDeviceAttributeCanUseStreamWaitValue && !runtime.settings().has_wait_values) {
      *pi = 0;
    }
    return error;
  });
}

hipError_t hipDeviceGetName(char* name, int len, hipDevice_t device) {
  return with_device(device, [&](Device& asked) {
    hipDeviceProp_t properties;
    const hipError_t error = asked.properties(&properties);
    return error != hipSuccess ? error : copy_text(name, len, properties.name);
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return with_device(device, [&](Device& asked) {
    if (uuid == nullptr) return hipErrorInvalidValue;
    hipDeviceProp_t properties;
    const hipError_t error = asked.properties(&properties);
    if (error == hipSuccess) *uuid = properties.uuid;
    return error;
  });
}

hipError_t hipDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return with_device(device, [&](Device& asked) {
    hipDeviceProp_t properties;
    const hipError_t error = asked.properties(&properties);
    if (error != hipSuccess) return error;
    char text[32];
    std::snprintf(text, sizeof(text), "%04x:%02x:%02x.0", properties.pciDomainID,
                  properties.pciBusID, properties.pciDeviceID);
    if (len <= static_cast<int>(std::strlen(text))) return hipErrorInvalidValue;
    return copy_text(pciBusId, len, text);
  });
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* prop, int deviceId) {
  return with_device(deviceId, [&](Device& device) {
    return prop == nullptr ? hipErrorInvalidValue : device.properties(prop);
  });
}

// The header's macro gives programs the name above; this one is for those that look it up.
#undef hipGetDeviceProperties
extern "C" __attribute__((visibility("default"))) hipError_t hipGetDeviceProperties(
    hipDeviceProp_tR0600* prop, int deviceId) {
  return with_device(deviceId, [&](Device& device) {
    return prop == nullptr ? hipErrorInvalidValue : device.properties(prop);
  });
}

hipError_t hipDeviceCanAccessPeer(int* canAccessPeer, int deviceId, int peerDeviceId) {
  return with_runtime([&](Runtime& runtime) {
    if (canAccessPeer == nullptr) return hipErrorInvalidValue;
    if (!runtime.is_device(deviceId) || !runtime.is_device(peerDeviceId)) {
      return hipErrorInvalidDevice;
    }
    bool can = false;
    const hipError_t error = runtime.device(deviceId).can_access_peer(peerDeviceId, &can);
    *canAccessPeer = can ? 1 : 0;
    return error;
  });
}

hipError_t hipDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return with_current_device([&](Device& device) {
    int least = 0;
    int greatest = 0;
    const hipError_t error = device.priority_range(&least, &greatest);
    if (leastPriority != nullptr) *leastPriority = least;
    if (greatestPriority != nullptr) *greatestPriority = greatest;
    return error;
  });
}

hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int flags, hipDevice_t device) {
  return with_device(device, [&](Device&) {
    if (ctx == nullptr || (flags & ~kContextFlags) != 0) return hipErrorInvalidValue;
    this_thread().device = device;
    *ctx = context_of(device);
    return hipSuccess;
  });
}

hipError_t hipCtxDestroy(hipCtx_t ctx) {
  return with_runtime([&](Runtime& runtime) {
    for (int device = 0; device < runtime.device_count(); ++device) {
      if (ctx == context_of(device)) return hipSuccess;
    }
    return hipErrorInvalidValue;
  });
}

hipError_t hipGetLastError() {
  const hipError_t error = this_thread().last_error;
  this_thread().last_error = hipSuccess;
  return error;
}

hipError_t hipPeekAtLastError() { return this_thread().last_error; }
