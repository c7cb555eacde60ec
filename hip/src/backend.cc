// SPDX-License-Identifier: MIT
//
// The one place that knows which backends exist.

#include "backend.h"

#include <atomic>

#include "emulated/emulated_device.h"
#if HIP_PORTABLE_HAVE_CUDA
#include "cuda/cuda_device.h"
#endif

namespace hip_portable {
namespace {

std::atomic<hipError_t> passed_over_error{hipSuccess};

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
  const hipError_t error = make_cuda(devices);
  passed_over_error.store(error);
  if (error == hipSuccess) return hipSuccess;
  devices->clear();
  return emulated::make_emulated_devices(settings, devices);
}

hipError_t passed_over() { return passed_over_error.load(); }

}  // namespace hip_portable
