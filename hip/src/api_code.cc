// SPDX-License-Identifier: MIT
//
// Entry points: code of programs. The emulated device runs none, and each call says so and changes
// nothing, so that a program that can do without goes on.

#include <map>
#include <string>
#include <utility>

#include "entry.h"

namespace hip_portable {
namespace {

// The same handle for the same name, however often it is asked for.
hipError_t find_kernel(Runtime& runtime, const std::shared_ptr<Module>& module, const char* name,
                       hipFunction_t* handle) {
  const MutexLock lock(module->mutex);
  const auto found = module->kernels.find(std::string_view(name));
  if (found != module->kernels.end()) {
    *handle = found->second;
    return hipSuccess;
  }
  auto kernel = std::make_shared<Kernel>();
  const hipError_t error = module->code->find(name, &kernel->code);
  if (error != hipSuccess) return error;
  kernel->module = module;
  kernel->device = module->device;
  *handle = runtime.kernels().add(std::move(kernel));
  module->kernels.emplace(name, *handle);
  return hipSuccess;
}

// A launch that is running elsewhere keeps the code until it is queued.
hipError_t unload(Runtime& runtime, hipModule_t handle) {
  const hipError_t error = runtime.captures().check_unrecordable();
  if (error != hipSuccess) return error;
  const std::shared_ptr<Module> module = runtime.modules().remove(handle);
  if (module == nullptr) return hipErrorInvalidHandle;
  const MutexLock lock(module->mutex);
  for (const auto& [name, kernel] : module->kernels) runtime.kernels().remove(kernel);
  return hipSuccess;
}

hipError_t launch(hipFunction_t handle, hipStream_t stream_handle, Launch launch) {
  return with_stream(stream_handle, [&](Runtime& runtime, Stream& stream) {
    if (handle == nullptr) return hipErrorInvalidValue;
    const std::shared_ptr<Kernel> kernel = runtime.kernels().find(handle);
    if (kernel == nullptr) return hipErrorInvalidDeviceFunction;
    if (kernel->device != stream.device) return hipErrorInvalidHandle;
    if (launch.parameters != nullptr && launch.extra != nullptr) return hipErrorInvalidValue;
    // Nobody here knows how large the parameters are, which a graph would have to keep.
    const hipError_t error = runtime.captures().check_stream(stream);
    if (error != hipSuccess) return error;
    launch.kernel = kernel->code;
    return stream.work->launch(launch);
  });
}

}  // namespace
}  // namespace hip_portable

using hip_portable::Device;
using hip_portable::DeviceModule;
using hip_portable::Module;
using hip_portable::Runtime;
using hip_portable::this_thread;
using hip_portable::with_runtime;

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return with_runtime([&](Runtime& runtime) {
    if (module == nullptr || image == nullptr) return hipErrorInvalidValue;
    *module = nullptr;
    hipError_t error = runtime.captures().check_unrecordable();
    if (error != hipSuccess) return error;
    const auto loaded = std::make_shared<Module>();
    loaded->device = this_thread().device;
    error = runtime.device(loaded->device).load_module(image, &loaded->code);
    if (error == hipSuccess) *module = runtime.modules().add(loaded);
    return error;
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return with_runtime([&](Runtime& runtime) { return hip_portable::unload(runtime, module); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* kname) {
  return with_runtime([&](Runtime& runtime) {
    if (function == nullptr || kname == nullptr) return hipErrorInvalidValue;
    const std::shared_ptr<Module> found = runtime.modules().find(module);
    if (found == nullptr) return hipErrorInvalidHandle;
    return hip_portable::find_kernel(runtime, found, kname, function);
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                 unsigned int gridDimZ, unsigned int blockDimX,
                                 unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, hipStream_t stream,
                                 void** kernelParams, void** extra) {
  return hip_portable::launch(
      f, stream,
      {nullptr, dim3(gridDimX, gridDimY, gridDimZ), dim3(blockDimX, blockDimY, blockDimZ),
       sharedMemBytes, kernelParams, extra});
}

// No compiler registers its kernels with this runtime.
hipError_t hipLaunchKernel(const void* function_address, dim3 /*numBlocks*/, dim3 /*dimBlocks*/,
                           void** /*args*/, size_t /*sharedMemBytes*/, hipStream_t /*stream*/) {
  return with_runtime([&](Runtime&) {
    return function_address == nullptr ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction;
  });
}
