// SPDX-License-Identifier: MIT
//
// One GPU of NVIDIA behind the runtime's device interface.
#pragma once

#include <memory>
#include <vector>

#include "../device.h"
#include "cuda_context.h"
#include "cuda_stream.h"
#include "cuda_virtual_memory.h"
#include "pinned_ranges.h"

namespace hip_portable::cuda {

// Memory that belongs to all devices.
struct SharedMemory {
  explicit SharedMemory(const Driver& driver) : virtual_memory(driver) {}
  PinnedRanges pinned;
  CudaVirtualMemory virtual_memory;
};

class CudaDevice : public Device {
 public:
  // `shared` is what all devices have in common.
  CudaDevice(const Driver& driver, int ordinal, DeviceId device,
             std::shared_ptr<SharedMemory> shared);

  bool is_emulated() const override { return false; }
  hipError_t properties(hipDeviceProp_t* properties) override;
  hipError_t attribute(hipDeviceAttribute_t attribute, int* value) override;
  hipError_t driver_version(int* version) override;
  hipError_t can_access_peer(int peer, bool* can) override;
  hipError_t priority_range(int* least, int* greatest) override;
  hipError_t memory_info(std::size_t* free, std::size_t* total) override;

  hipError_t allocate(std::size_t size, unsigned flags, void** pointer) override;
  hipError_t allocate_managed(std::size_t size, unsigned flags, void** pointer) override;
  hipError_t allocate_async(std::size_t size, DeviceStream& stream, void** pointer) override;
  hipError_t release(void* pointer) override;
  hipError_t release_async(void* pointer, DeviceStream& stream) override;
  hipError_t allocate_host(std::size_t size, unsigned flags, void** pointer) override;
  hipError_t release_host(void* pointer) override;
  hipError_t register_host(void* pointer, std::size_t size, unsigned flags) override;
  hipError_t unregister_host(void* pointer) override;
  hipError_t describe(const void* pointer, PointerInfo* info) override;
  void widen(PointerInfo* info) override;
  // The driver does not look: a stream that has no access would lose the device.
  hipError_t check_value_access(const void* pointer, hipMemAccessFlags access) override;
  VirtualMemory* virtual_memory() override { return &shared_->virtual_memory; }

  hipError_t copy(void* to, const void* from, std::size_t size) override;
  hipError_t synchronize() override;
  hipError_t load_module(const void* image, std::unique_ptr<DeviceModule>* module) override;
  hipError_t indirect_copy_status() override { return context_.copy_kernel_status(); }
  DeviceStream& null_stream() override { return null_stream_; }
  hipError_t create_stream(unsigned flags, int priority,
                           std::unique_ptr<DeviceStream>* stream) override;
  // The driver looks into what a handle points to: an address where nothing lies is refused here,
  // another wrong one by the driver, if it notices. A stream of a context that is not the primary
  // one is refused too.
  hipError_t adopt_stream(void* handle, std::unique_ptr<DeviceStream>* stream) override;
  hipError_t set_capture_mode(hipStreamCaptureMode mode) override;
  hipError_t create_event(unsigned flags, std::unique_ptr<DeviceEvent>* event) override;

  // The driver has no such call: ENODEV, as on a GPU whose direct path is not set up.
  hipError_t transfer_file(const FileTransfer& transfer, std::uint64_t* copied,
                           std::int32_t* status) override;

  hipError_t reset() override;
  // The driver takes itself down and answers hipErrorDeinitialized from then on.
  void shut_down() override {}

 private:
  const Driver& driver() const { return context_.driver(); }
  hipError_t allocate_pinned(std::size_t size, unsigned flags, PinnedKind kind, void** pointer);
  hipError_t release_pinned(void* pointer, PinnedKind kind);
  // Takes pinned memory off the list, waits for the device and calls `give_back`.
  hipError_t take_off(void* pointer, PinnedKind kind, Result (*give_back)(void*),
                      hipError_t error_if_unknown);
  hipError_t describe_device_memory(const void* pointer, PointerInfo* info);

  const int ordinal_;
  ContextHolder context_;
  CudaStream null_stream_;
  const std::shared_ptr<SharedMemory> shared_;
  PinnedRanges& pinned_;
};

// All devices that the driver sees, by ordinal. `error` is that of DriverState; the list is empty
// then.
std::vector<std::unique_ptr<Device>> make_cuda_devices(hipError_t* error);

}  // namespace hip_portable::cuda
