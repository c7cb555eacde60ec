// SPDX-License-Identifier: MIT
//
// Entry points: code. None runs here; each call says so and changes nothing, so that a program that
// can do without goes on.

#include "entry.h"

namespace {

using hip_portable::Device;
using hip_portable::Runtime;
using hip_portable::with_runtime;
using hip_portable::with_uncaptured_device;

// For calls that take a handle which nothing here can have made.
hipError_t unknown_handle() {
  return with_runtime([](Runtime&) { return hipErrorInvalidHandle; });
}

hipError_t no_such_kernel(const void* kernel) {
  return with_runtime([&](Runtime&) {
    return kernel == nullptr ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction;
  });
}

}  // namespace

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return with_uncaptured_device([&](Device& device) {
    if (module == nullptr || image == nullptr) return hipErrorInvalidValue;
    *module = nullptr;
    return device.load_module(image);
  });
}

hipError_t hipModuleUnload(hipModule_t /*module*/) { return unknown_handle(); }

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t /*module*/,
                                const char* kname) {
  if (function == nullptr || kname == nullptr) return hip_portable::remember(hipErrorInvalidValue);
  return unknown_handle();
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int /*gridDimX*/,
                                 unsigned int /*gridDimY*/, unsigned int /*gridDimZ*/,
                                 unsigned int /*blockDimX*/, unsigned int /*blockDimY*/,
                                 unsigned int /*blockDimZ*/, unsigned int /*sharedMemBytes*/,
                                 hipStream_t /*stream*/, void** /*kernelParams*/,
                                 void** /*extra*/) {
  return no_such_kernel(f);
}

hipError_t hipLaunchKernel(const void* function_address, dim3 /*numBlocks*/, dim3 /*dimBlocks*/,
                           void** /*args*/, size_t /*sharedMemBytes*/, hipStream_t /*stream*/) {
  return no_such_kernel(function_address);
}
