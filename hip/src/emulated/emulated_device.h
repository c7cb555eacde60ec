// SPDX-License-Identifier: MIT
//
// The device that is host memory and threads: what a machine without a GPU offers.
#pragma once

#include <memory>
#include <vector>

#include "../device.h"
#include "../settings.h"
#include "machine.h"
#include "stream.h"

namespace hip_portable::emulated {

class EmulatedDevice final : public Device {
 public:
  // The machine lives as long as the process.
  EmulatedDevice(Machine& machine, int ordinal);

  bool is_emulated() const override { return true; }
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
  hipError_t check_access(const void* pointer, std::size_t size, hipMemAccessFlags access) override;
  VirtualMemory* virtual_memory() override { return &machine_.ranges; }

  hipError_t copy(void* to, const void* from, std::size_t size) override;
  hipError_t synchronize() override;
  hipError_t load_module(const void* image, std::unique_ptr<DeviceModule>* module) override;
  DeviceStream& null_stream() override { return null_stream_; }
  hipError_t create_stream(unsigned flags, int priority,
                           std::unique_ptr<DeviceStream>* stream) override;
  hipError_t create_event(unsigned flags, std::unique_ptr<DeviceEvent>* event) override;
  hipError_t transfer_file(const FileTransfer& transfer, std::uint64_t* copied,
                           std::int32_t* status) override;
  hipError_t reset() override;
  void shut_down() override;

 private:
  void give_back(const HostRange& range);

  Machine& machine_;
  const int ordinal_;
  EmulatedStream null_stream_;
};

// As many devices as the settings ask for. hipErrorOutOfMemory where no addresses can be had.
hipError_t make_emulated_devices(const Settings& settings,
                                 std::vector<std::unique_ptr<Device>>* devices);

}  // namespace hip_portable::emulated
