// SPDX-License-Identifier: MIT
//
// The one place that knows which backends exist.

#include "backend.h"

#include "emulated/emulated_device.h"
#if HIP_PORTABLE_HAVE_CUDA
#include "cuda/cuda_device.h"
#endif

namespace hip_portable {
namespace {

hipError_t make_cuda(std::vector<std::unique_ptr<Device>>* devices) {
#if HIP_PORTABLE_HAVE_CUDA
  hipError_t error = hipErrorNoDevice;
  *devices = cuda::make_cuda_devices(&error);
  return error == hipSuccess && devices->empty() ? hipErrorNoDevice : error;
#else
  (void)devices;
  return hipErrorNoDevice;
#endif
}

}  // namespace

hipError_t make_devices(const Settings& settings, std::vector<std::unique_ptr<Device>>* devices) {
  switch (settings.backend) {
    case BackendChoice::kCuda: return make_cuda(devices);
    case BackendChoice::kEmulated: return emulated::make_emulated_devices(settings, devices);
    case BackendChoice::kUnknown: return hipErrorNoDevice;
    case BackendChoice::kAuto: break;
  }
  if (make_cuda(devices) == hipSuccess) return hipSuccess;
  devices->clear();
  return emulated::make_emulated_devices(settings, devices);
}

}  // namespace hip_portable
