// SPDX-License-Identifier: MIT
//
// Kinds and ranges of copies. The kind is checked against the pointers although hipMemcpyDefault
// would do: a wrong kind is a bug that other runtimes punish.

#include "pointer_check.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace hip_portable {
namespace {

enum class Side { kHost, kDevice, kAny };

bool sides_of(hipMemcpyKind kind, Side* to, Side* from) {
  *to = *from = Side::kAny;
  switch (kind) {
    case hipMemcpyHostToHost:
      *to = *from = Side::kHost;
      return true;
    case hipMemcpyHostToDevice:
      *to = Side::kDevice, *from = Side::kHost;
      return true;
    case hipMemcpyDeviceToHost:
      *to = Side::kHost, *from = Side::kDevice;
      return true;
    case hipMemcpyDeviceToDevice:
    case hipMemcpyDeviceToDeviceNoCU:
      *to = *from = Side::kDevice;
      return true;
    case hipMemcpyDefault:
      return true;
  }
  return false;
}

// Pinned and managed memory is on both sides.
bool is_on(Side side, const PointerInfo& info) {
  switch (side) {
    case Side::kHost:
      return info.type != hipMemoryTypeDevice;
    case Side::kDevice:
      return info.type != hipMemoryTypeUnregistered;
    case Side::kAny:
      return true;
  }
  return false;
}

// Beyond a registered range the program may have more memory: only what is the device's ends
// where its allocation ends.
bool is_inside(const PointerInfo& info, const void* pointer, std::size_t size) {
  if (info.type != hipMemoryTypeDevice && info.type != hipMemoryTypeManaged) return true;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(info.base));
  return size <= info.size - offset;
}

// A driver knows no more of memory that was freed than of memory of the program, and would copy it
// with the processor; its addresses are closed to the program.
bool is_closed(const void* pointer) {
  char byte = 0;
  const iovec here{&byte, sizeof(byte)};
  const iovec there{const_cast<void*>(pointer), sizeof(byte)};
  // Where the call is forbidden nobody knows.
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT;
}

struct Range {
  Side side = Side::kAny;
  const void* pointer = nullptr;
  std::size_t size = 0;
  hipMemAccessFlags access = hipMemAccessFlagsProtRead;
};

hipError_t check_range(Device& device, const Range& range, PointerInfo* info) {
  if (range.pointer == nullptr) return hipErrorInvalidValue;
  const hipError_t error = device.describe(range.pointer, info);
  if (error != hipSuccess) return error;
  if (!is_inside(*info, range.pointer, range.size)) device.widen(info);
  if (!is_on(range.side, *info) || !is_inside(*info, range.pointer, range.size)) {
    return hipErrorInvalidValue;
  }
  if (info->type == hipMemoryTypeUnregistered && is_closed(range.pointer)) {
    return hipErrorInvalidValue;
  }
  if (info->type != hipMemoryTypeDevice) return hipSuccess;
  return device.check_access(range.pointer, range.size, range.access);
}

}  // namespace

hipError_t check_copy(Device& device, const CopyRequest& request, bool* is_pageable) {
  Side to_side;
  Side from_side;
  if (!sides_of(request.kind, &to_side, &from_side)) return hipErrorInvalidMemcpyDirection;
  if (request.size == 0) return hipSuccess;
  PointerInfo to;
  PointerInfo from;
  hipError_t error =
      check_range(device, {to_side, request.to, request.size, hipMemAccessFlagsProtReadWrite}, &to);
  if (error == hipSuccess) {
    error = check_range(device, {from_side, request.from, request.size, hipMemAccessFlagsProtRead},
                        &from);
  }
  *is_pageable = to.type == hipMemoryTypeUnregistered || from.type == hipMemoryTypeUnregistered;
  return error;
}

hipError_t check_device_range(Device& device, const void* pointer, std::size_t size,
                              hipMemAccessFlags access) {
  PointerInfo info;
  return check_range(device, {Side::kDevice, pointer, size, access}, &info);
}

hipError_t check_value(Device& device, const void* pointer, std::size_t size,
                       hipMemAccessFlags access) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % size != 0) return hipErrorInvalidValue;
  PointerInfo info;
  const hipError_t error = check_range(device, {Side::kDevice, pointer, size, access}, &info);
  if (error != hipSuccess || info.type != hipMemoryTypeDevice) return error;
  return device.check_value_access(pointer, access);
}

hipError_t check_shared_object(Device& device, const void* pointer, std::size_t size,
                               std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) return hipErrorInvalidValue;
  PointerInfo info;
  const hipError_t error =
      check_range(device, {Side::kDevice, pointer, size, hipMemAccessFlagsProtRead}, &info);
  if (error != hipSuccess) return error;
  if (info.size == 0) return hipSuccess;  // pinned by another: nobody knows where it ends
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(info.base));
  const bool is_shared = info.type != hipMemoryTypeDevice && size <= info.size - offset;
  return is_shared ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace hip_portable
