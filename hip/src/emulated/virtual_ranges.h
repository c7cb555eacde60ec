// SPDX-License-Identifier: MIT
//
// Virtual memory of the emulated devices. A reservation is two ranges of equal size: the program's,
// whose addresses are the device pointers, and the working range, through which the runtime reads
// and writes. So the working address of any pointer is the pointer plus one constant. A mapping
// shows the pages of a block of device memory in both; in strict mode the program's stays closed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../device.h"
#include "../mutex.h"
#include "../virtual_memory.h"
#include "device_memory.h"
#include "work_queue.h"

namespace hip_portable::emulated {

class VirtualRanges final : public VirtualMemory {
 public:
  VirtualRanges(DeviceMemory& memory, Scheduler& scheduler)
      : memory_(memory), scheduler_(scheduler) {}

  void start(int devices, bool is_strict);

  std::size_t granularity() const override { return DoubleMapping::kAlignment; }
  hipError_t reserve(std::size_t size, std::size_t alignment, void* wish, void** pointer) override;
  hipError_t unreserve(void* pointer, std::size_t size) override;
  hipError_t create(int device, std::size_t size, MemoryHandle* handle) override;
  hipError_t release(MemoryHandle handle) override;
  hipError_t retain(const void* pointer, MemoryHandle* handle) override;
  hipError_t device_of(MemoryHandle handle, int* device) override;
  hipError_t map(void* pointer, std::size_t size, MemoryHandle handle) override;
  hipError_t unmap(void* pointer, std::size_t size) override;
  hipError_t set_access(void* pointer, std::size_t size, int device,
                        hipMemAccessFlags access) override;
  hipError_t access_of(const void* pointer, int device, hipMemAccessFlags* access) override;

  // Whether an address is reserved here.
  bool contains(const void* pointer) const;
  // Where nothing is mapped: hipErrorInvalidValue. Mappings that follow each other without a gap
  // are one allocation, owned by the device of the memory at `pointer`.
  hipError_t describe(const void* pointer, PointerInfo* info) const;
  // `access` for all of a range: hipSuccess or hipErrorInvalidValue. Other memory: hipSuccess.
  hipError_t check_access(const void* pointer, std::size_t size, int device,
                          hipMemAccessFlags access) const;
  // As DeviceMemory::work_on.
  void* work_on(const void* pointer, std::size_t size);

  // Unmaps and frees the memory of a device. Nothing uses it any more. Addresses stay reserved.
  void reset(int device);

 private:
  struct Memory {
    Block block;
    std::size_t references = 1;
    std::size_t mappings = 0;
  };
  struct Mapping {
    std::size_t size = 0;
    std::uintptr_t handle = 0;
    std::vector<hipMemAccessFlags> access;  // by device
    bool is_leaving = false;                // waits for the devices before it goes
  };
  using Mappings = std::map<std::uintptr_t, Mapping>;  // by address
  struct Reservation {
    std::size_t size = 0;
    std::ptrdiff_t distance = 0;  // from the program's range to the working range
    Mappings mappings;
  };
  struct Found {
    const Reservation* reservation = nullptr;
    Mappings::const_iterator mapping;
  };

  Reservation* reservation_of(std::uintptr_t address, std::size_t size)
      HIP_PORTABLE_REQUIRES(mutex_);
  const Reservation* reservation_of(std::uintptr_t address, std::size_t size) const
      HIP_PORTABLE_REQUIRES(mutex_);
  // The mapping that holds an address and does not leave. False if there is none.
  bool find(const void* pointer, Found* found) const HIP_PORTABLE_REQUIRES(mutex_);
  // The mappings that together are exactly this range; none if there are no such.
  std::vector<Mappings::iterator> whole_mappings(void* pointer, std::size_t size)
      HIP_PORTABLE_REQUIRES(mutex_);

  bool show(const Block& block, std::size_t size, void* pointer, std::ptrdiff_t distance);
  bool hide(void* pointer, std::size_t size, std::ptrdiff_t distance);
  bool protect(std::uintptr_t address, const Mapping& mapping);
  // Frees the memory if nothing refers to it any more.
  void drop_if_unused(std::uintptr_t handle) HIP_PORTABLE_REQUIRES(mutex_);
  void wait_for_devices();

  DeviceMemory& memory_;
  Scheduler& scheduler_;
  int devices_ = 1;
  bool is_strict_ = false;

  std::atomic<int> reserved_{0};  // 0 spares all other memory the look below
  mutable Mutex mutex_;
  std::uintptr_t last_handle_ HIP_PORTABLE_GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, Memory> memories_ HIP_PORTABLE_GUARDED_BY(mutex_);  // by handle
  std::map<std::uintptr_t, Reservation> reservations_
      HIP_PORTABLE_GUARDED_BY(mutex_);  // by address
};

}  // namespace hip_portable::emulated
