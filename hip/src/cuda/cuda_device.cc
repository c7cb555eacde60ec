// SPDX-License-Identifier: MIT
//
// One GPU of NVIDIA: what it is, its work, and how devices are found. Memory is in cuda_memory.cc.

#include "cuda_device.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "cuda_driver.h"
#include "cuda_module.h"
#include "cuda_properties.h"

namespace hip_portable::cuda {
namespace {

// Something lies at an address that may be one of a structure.
bool is_mapped(const void* address) {
  constexpr std::uintptr_t kPage = 4096;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number < kPage || number % alignof(void*) != 0) return false;
  unsigned char is_resident = 0;
  return ::mincore(reinterpret_cast<void*>(number / kPage * kPage), kPage, &is_resident) == 0;
}

}  // namespace

CudaDevice::CudaDevice(const Driver& driver, int ordinal, DeviceId device,
                       std::shared_ptr<SharedMemory> shared)
    : ordinal_(ordinal),
      context_(driver, device),
      null_stream_(context_, legacy_stream()),
      shared_(std::move(shared)),
      pinned_(shared_->pinned) {
  shared_->virtual_memory.add_device(context_);
}

hipError_t CudaDevice::properties(hipDeviceProp_t* properties) {
  return read_properties(driver(), context_.device(), properties);
}

hipError_t CudaDevice::attribute(hipDeviceAttribute_t attribute, int* value) {
  return read_attribute(driver(), context_.device(), attribute, value);
}

hipError_t CudaDevice::driver_version(int* version) {
  return to_hip(driver().driver_get_version(version));
}

hipError_t CudaDevice::can_access_peer(int peer, bool* can) {
  DeviceId other = 0;
  int answer = 0;
  Result result = driver().device_get(&other, peer);
  if (result == kSuccess) {
    result = driver().device_can_access_peer(&answer, context_.device(), other);
  }
  *can = answer != 0;
  return to_hip(result);
}

hipError_t CudaDevice::priority_range(int* least, int* greatest) {
  return context_.run([&] { return driver().priority_range(least, greatest); });
}

// Queued and waited for: the driver's own synchronous copy returns early where both ends are on the
// device or the host end is pageable.
hipError_t CudaDevice::copy(void* to, const void* from, std::size_t size) {
  return context_.run([&] {
    const Result result = driver().memcpy_async(to_device_ptr(to), to_device_ptr(from), size,
                                                legacy_stream());
    return result == kSuccess ? driver().stream_synchronize(legacy_stream()) : result;
  });
}

hipError_t CudaDevice::synchronize() {
  return context_.run([&] { return driver().context_synchronize(); });
}

hipError_t CudaDevice::load_module(const void* image, std::unique_ptr<DeviceModule>* module) {
  return CudaModule::load(context_, image, module);
}

hipError_t CudaDevice::create_stream(unsigned flags, int priority,
                                     std::unique_ptr<DeviceStream>* stream) {
  Stream handle = nullptr;
  const hipError_t error =
      context_.run([&] { return driver().stream_create(&handle, flags, priority); });
  if (error == hipSuccess) *stream = std::make_unique<CudaStream>(context_, handle);
  return error;
}

hipError_t CudaDevice::adopt_stream(void* handle, std::unique_ptr<DeviceStream>* stream) {
  if (!is_mapped(handle)) return hipErrorInvalidHandle;
  const auto foreign = static_cast<Stream>(handle);
  Context context = nullptr;
  if (driver().stream_get_context(foreign, &context) != kSuccess) return hipErrorInvalidHandle;
  if (!context_.is_of(context)) return hipErrorInvalidHandle;
  *stream = std::make_unique<CudaStream>(context_, foreign, CudaStream::Owner::kProgram);
  return hipSuccess;
}

// HIP's modes have the driver's numbers.
hipError_t CudaDevice::set_capture_mode(hipStreamCaptureMode mode) {
  int exchanged = mode;
  return to_hip(driver().exchange_capture_mode(&exchanged));
}

hipError_t CudaDevice::create_event(unsigned flags, std::unique_ptr<DeviceEvent>* event) {
  // The others say how AMD's caches are flushed.
  constexpr unsigned kKnown = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
  Event handle = nullptr;
  const hipError_t error =
      context_.run([&] { return driver().event_create(&handle, flags & kKnown); });
  if (error == hipSuccess) *event = std::make_unique<CudaEvent>(context_, handle);
  return error;
}

hipError_t CudaDevice::transfer_file(const FileTransfer& /*transfer*/, std::uint64_t* copied,
                                     std::int32_t* status) {
  *copied = 0;
  *status = ENODEV;
  return hipErrorNotSupported;
}

hipError_t CudaDevice::reset() {
  const hipError_t error = context_.reset();
  pinned_.remove_all_of(ordinal_);
  return error;
}

std::vector<std::unique_ptr<Device>> make_cuda_devices(hipError_t* error) {
  std::vector<std::unique_ptr<Device>> devices;
  const DriverState& state = driver_state();
  *error = state.error;
  if (state.error != hipSuccess) return devices;
  const auto shared = std::make_shared<SharedMemory>(state.driver);
  for (int ordinal = 0; ordinal < state.device_count; ++ordinal) {
    DeviceId device = 0;
    *error = to_hip(state.driver.device_get(&device, ordinal));
    if (*error != hipSuccess) return {};
    devices.push_back(std::make_unique<CudaDevice>(state.driver, ordinal, device, shared));
  }
  return devices;
}

}  // namespace hip_portable::cuda
