// SPDX-License-Identifier: MIT
//
// The copy whose operands are read when the stream gets there. Whatever the descriptor says,
// nothing is touched but memory that the runtime knows.

#include <cstring>

#include "machine.h"
#include "stream.h"

namespace hip_portable::emulated {
namespace {

// What the stream's device may not touch counts as unknown.
bool is_known(const Machine& machine, int device, const void* pointer, std::uint64_t size,
              hipMemAccessFlags access) {
  PointerInfo info;
  if (machine.describe(pointer, &info) != hipSuccess) return false;
  if (info.type == hipMemoryTypeUnregistered) return false;
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) -
                                                 static_cast<const std::byte*>(info.base));
  return size <= info.size - offset &&
         machine.ranges.check_access(pointer, size, device, access) == hipSuccess;
}

bool is_valid(const Machine& machine, int device, const hipPortableIndirectCopy_t& copy) {
  const auto can_read = [&](const void* pointer, std::uint64_t size) {
    return is_known(machine, device, pointer, size, hipMemAccessFlagsProtRead);
  };
  const auto can_write = [&](const void* pointer, std::uint64_t size) {
    return is_known(machine, device, pointer, size, hipMemAccessFlagsProtReadWrite);
  };
  if (copy.size != 0 && !can_read(copy.source, copy.size)) return false;
  if (copy.size != 0 && !can_write(copy.destination, copy.size)) return false;
  if (reinterpret_cast<std::uintptr_t>(copy.flag) % sizeof(*copy.flag) != 0) return false;
  return copy.flag == nullptr || can_write(copy.flag, sizeof(*copy.flag));
}

hipError_t run(Machine& machine, int device, const hipPortableIndirectCopy_t* descriptor) {
  // Read once: a program that writes it too early gets one of the two copies.
  hipPortableIndirectCopy_t copy;
  std::memcpy(&copy, machine.work_on(descriptor, sizeof(copy)), sizeof(copy));
  if (!is_valid(machine, device, copy)) return hipErrorIllegalAddress;
  if (copy.size != 0) {
    machine.copy(copy.destination, copy.source, static_cast<std::size_t>(copy.size));
  }
  if (copy.flag != nullptr) {
    void* const flag = machine.work_on(copy.flag, sizeof(*copy.flag));
    __atomic_store_n(static_cast<std::uint64_t*>(flag), copy.flag_value, __ATOMIC_RELEASE);
  }
  return hipSuccess;
}

}  // namespace

hipError_t EmulatedStream::copy_indirect(const hipPortableIndirectCopy_t* descriptor) {
  Machine& machine = machine_;
  machine.hazards.admit_copy();
  const auto work = [&machine, queue = queue_, device = device_, descriptor] {
    queue->keep_error(run(machine, device, descriptor));
  };
  submit(work, false);
  return hipSuccess;
}

}  // namespace hip_portable::emulated
