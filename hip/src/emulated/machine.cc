// SPDX-License-Identifier: MIT
//
// Moving bytes and telling pointers apart, for all emulated devices.

#include "machine.h"

#include <cstring>

namespace hip_portable::emulated {

void Machine::copy(void* to, const void* from, std::size_t size) {
  const void* source = memory.work_on(from, size);
  std::memmove(memory.work_on(to, size), source, size);
}

void Machine::fill(void* to, unsigned char value, std::size_t size) {
  std::memset(memory.work_on(to, size), value, size);
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
