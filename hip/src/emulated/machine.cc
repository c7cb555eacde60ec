// SPDX-License-Identifier: MIT
//
// Moving bytes and telling pointers apart, for all emulated devices.

#include "machine.h"

#include <cstring>

namespace hip_portable::emulated {

void* Machine::work_on(const void* pointer, std::size_t size) {
  if (ranges.contains(pointer)) return ranges.work_on(pointer, size);
  return memory.work_on(pointer, size);
}

void Machine::drain(int device) {
  hazards.drain(device);
  scheduler.wait_for_device(device);
}

void Machine::copy(void* to, const void* from, std::size_t size) {
  const void* source = work_on(from, size);
  std::memmove(work_on(to, size), source, size);
}

void Machine::fill(void* to, unsigned char value, std::size_t size) {
  std::memset(work_on(to, size), value, size);
}

hipError_t Machine::describe(const void* pointer, PointerInfo* info) const {
  *info = PointerInfo{};
  void* const address = const_cast<void*>(pointer);
  if (memory.contains(pointer)) {
    const std::optional<Block> block = memory.find(pointer);
    if (!block) return hipErrorInvalidValue;
    *info = {hipMemoryTypeDevice, block->device, memory.base_of(*block), block->size,
             address,             nullptr,       block->flags};
    return hipSuccess;
  }
  if (ranges.contains(pointer)) return ranges.describe(pointer, info);
  const std::optional<HostRange> range = host.find(pointer);
  if (!range) return hipSuccess;
  const bool is_managed = range->kind == HostKind::kManaged;
  *info = {is_managed ? hipMemoryTypeManaged : hipMemoryTypeHost,
           range->device,
           reinterpret_cast<void*>(range->start),
           range->size,
           address,
           address,
           range->flags};
  return hipSuccess;
}

}  // namespace hip_portable::emulated
