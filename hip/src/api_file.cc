// SPDX-License-Identifier: MIT
//
// Entry points: transfers between a file and device memory, and what the portable runtime has
// beyond HIP.

#include "api_file.h"

#include "backend.h"
#include "entry.h"

namespace hip_portable {
namespace {

hipError_t transfer(const FileTransfer& transfer, uint64_t* size_copied, int32_t* status) {
  return with_current_device([&](Device& device) {
    if (size_copied == nullptr || status == nullptr) return hipErrorInvalidValue;
    return device.transfer_file(transfer, size_copied, status);
  });
}

}  // namespace
}  // namespace hip_portable

using hip_portable::FileDirection;

hipError_t hipAmdFileRead(hipAmdFileHandle_t handle, void* device_ptr, uint64_t size,
                          int64_t file_offset, uint64_t* size_copied, int32_t* status) {
  return hip_portable::transfer(
      {FileDirection::kRead, handle.fd, device_ptr, size, file_offset, false}, size_copied, status);
}

hipError_t hipAmdFileWrite(hipAmdFileHandle_t handle, void* device_ptr, uint64_t size,
                           int64_t file_offset, uint64_t* size_copied, int32_t* status) {
  return hip_portable::transfer(
      {FileDirection::kWrite, handle.fd, device_ptr, size, file_offset, false}, size_copied,
      status);
}

hipError_t hipPortableFileRead(int fd, void* device_ptr, uint64_t size, int64_t file_offset,
                               uint64_t* size_copied, int32_t* status) {
  return hip_portable::transfer({FileDirection::kRead, fd, device_ptr, size, file_offset, true},
                                size_copied, status);
}

#define HIP_PORTABLE_TEXT_OF(value) #value
#define HIP_PORTABLE_VERSION_TEXT(major, minor, patch) \
  HIP_PORTABLE_TEXT_OF(major) "." HIP_PORTABLE_TEXT_OF(minor) "." HIP_PORTABLE_TEXT_OF(patch)

const char* hipPortableMarker() {
  return "hip_portable " HIP_PORTABLE_VERSION_TEXT(HIP_VERSION_MAJOR, HIP_VERSION_MINOR,
                                                   HIP_VERSION_PATCH);
}

hipError_t hipPortableSetLastError(hipError_t error) {
  const hipError_t before = hip_portable::this_thread().last_error;
  hip_portable::this_thread().last_error = error;
  return before;
}

int hipPortableDeviceIsEmulated(int device) {
  hip_portable::Runtime* runtime = nullptr;
  if (hip_portable::enter(&runtime) != hipSuccess || !runtime->is_device(device)) return -1;
  return runtime->device(device).is_emulated() ? 1 : 0;
}

hipError_t hipPortablePassedOver() {
  hip_portable::Runtime* runtime = nullptr;
  (void)hip_portable::enter(&runtime);  // the devices are chosen by the first call
  return hip_portable::passed_over();
}
