// SPDX-License-Identifier: MIT
//
// Virtual memory of NVIDIA's driver. Its calls need no current context. The driver checks less than
// HIP promises: it looks at no more of a handle than it must, maps across the border of two
// reservations that touch, and unmaps what is not mapped. So what was given, reserved and mapped
// here is remembered; what a program did by the driver itself is unknown, and refused. It also does
// less: memory is mapped as a whole, and a part of it is hipErrorInvalidValue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../mutex.h"
#include "../virtual_memory.h"
#include "cuda_context.h"

namespace hip_portable::cuda {

class CudaVirtualMemory final : public VirtualMemory {
 public:
  explicit CudaVirtualMemory(const Driver& driver) : driver_(driver) {}

  // Before any other call, in the order of the ordinals.
  void add_device(ContextHolder& context);

  std::size_t granularity() const override { return granularity_; }
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
  // In a mapping made here. Asked for the access to other memory, the driver says "none".
  bool is_mapped(const void* pointer) HIP_PORTABLE_EXCLUDES(mutex_);

 private:
  bool is_given(MemoryHandle handle) HIP_PORTABLE_EXCLUDES(mutex_);
  // A map from start to size, of ranges that do not overlap.
  using Ranges = std::map<DevicePtr, std::size_t>;
  // Enters a mapping, if it lies in one reservation and touches no other mapping.
  bool claim(DevicePtr start, std::size_t size) HIP_PORTABLE_EXCLUDES(mutex_);
  // Takes out the mappings that together are exactly this range; none if there are no such.
  Ranges take_mappings(DevicePtr start, std::size_t size) HIP_PORTABLE_EXCLUDES(mutex_);
  void put_back(Ranges& taken) HIP_PORTABLE_EXCLUDES(mutex_);
  hipError_t wait_for_devices();
  AllocationProperties properties_of(int device) const;

  const Driver& driver_;
  std::size_t granularity_ = std::size_t{2} << 20;
  std::vector<ContextHolder*> contexts_;
  Mutex mutex_;
  std::map<AllocationHandle, int> references_ HIP_PORTABLE_GUARDED_BY(mutex_);
  Ranges reservations_ HIP_PORTABLE_GUARDED_BY(mutex_);
  Ranges mappings_ HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable::cuda
