// SPDX-License-Identifier: MIT
//
// Loading code of programs, and its kernels by name.

#include "cuda_module.h"

namespace hip_portable::cuda {

hipError_t CudaModule::load(ContextHolder& context, const void* image,
                            std::unique_ptr<DeviceModule>* module) {
  Module handle = nullptr;
  std::uint64_t generation = 0;
  const hipError_t error = context.run([&] {
    generation = context.generation();
    return context.driver().module_load_data(&handle, image);
  });
  if (error == hipSuccess) module->reset(new CudaModule(context, handle, generation));
  return error;
}

CudaModule::~CudaModule() {
  if (generation_ != context_.generation()) return;
  // Nobody is left to tell an error to.
  static_cast<void>(context_.run([this] { return context_.driver().module_unload(handle_); }));
}

hipError_t CudaModule::find(const char* name, void** kernel) {
  if (generation_ != context_.generation()) return hipErrorContextIsDestroyed;
  Function function = nullptr;
  const hipError_t error =
      context_.run([&] { return context_.driver().module_get_function(&function, handle_, name); });
  if (error == hipSuccess) *kernel = function;
  return error;
}

bool DriverExtra::read(void** extra) {
  std::size_t filled = 0;
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    const bool is_known =
        *extra == HIP_LAUNCH_PARAM_BUFFER_POINTER || *extra == HIP_LAUNCH_PARAM_BUFFER_SIZE;
    if (!is_known || filled + 2 >= pairs_.size()) return false;
    pairs_[filled++] = extra[0];
    pairs_[filled++] = extra[1];
  }
  pairs_[filled] = nullptr;
  return true;
}

}  // namespace hip_portable::cuda
