// SPDX-License-Identifier: MIT
//
// The seam of virtual memory: reserved addresses, memory without addresses, and mappings that bring
// the two together. The entry points check what an argument says by itself; an implementation
// answers for what is reserved, allocated and mapped.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace hip_portable {

using MemoryHandle = hipMemGenericAllocationHandle_t;

// One for all devices of the process. Sizes and addresses are multiples of the granularity and
// sizes are not 0. hipErrorInvalidValue for what is not reserved, mapped or allocated.
class VirtualMemory {
 public:
  virtual ~VirtualMemory() = default;

  virtual std::size_t granularity() const = 0;

  // `wish` is an address that would be welcome, or null. hipErrorOutOfMemory
  virtual hipError_t reserve(std::size_t size, std::size_t alignment, void* wish,
                             void** pointer) = 0;
  // All of a reservation in which nothing is mapped.
  virtual hipError_t unreserve(void* pointer, std::size_t size) = 0;

  // hipErrorOutOfMemory
  virtual hipError_t create(int device, std::size_t size, MemoryHandle* handle) = 0;
  // Gives one reference back. The memory lives until the last mapping is gone too.
  virtual hipError_t release(MemoryHandle handle) = 0;
  // One more reference to the memory that is mapped at an address.
  virtual hipError_t retain(const void* pointer, MemoryHandle* handle) = 0;
  virtual hipError_t device_of(MemoryHandle handle, int* device) = 0;

  // The first `size` bytes of the memory, at addresses of one reservation where nothing is mapped.
  virtual hipError_t map(void* pointer, std::size_t size, MemoryHandle handle) = 0;
  // One or several neighbouring mappings, each of them whole. Waits for all work of the devices.
  virtual hipError_t unmap(void* pointer, std::size_t size) = 0;
  // One or several neighbouring mappings, each of them whole. At first a device has no access.
  virtual hipError_t set_access(void* pointer, std::size_t size, int device,
                                hipMemAccessFlags access) = 0;
  virtual hipError_t access_of(const void* pointer, int device, hipMemAccessFlags* access) = 0;
};

}  // namespace hip_portable
