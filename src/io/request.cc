// SPDX-License-Identifier: MIT
//
// Validation. The range is always checked on the size that the caller gave, and then capped.
#include "io/request.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace hipfile {

Status check_arguments(const Arguments& arguments) {
  if (arguments.base == nullptr) return Error::of(hipFileInvalidValue);
  if (arguments.file_offset < 0 || arguments.buffer_offset < 0) return Error::from_errno(EINVAL);
  return Status();
}

namespace {

bool is_inside(const Memory& memory, uint64_t offset, size_t size) {
  const auto base = reinterpret_cast<uintptr_t>(memory.base);
  const uintptr_t last = std::numeric_limits<uintptr_t>::max();
  if (offset > last - base || size > last - base - offset) return false;  // wraps around
  return offset < memory.length && size <= memory.length - offset;
}

}  // namespace

Result<Request> make_request(const Arguments& arguments, File& file, const Memory& memory) {
  const auto offset = static_cast<uint64_t>(arguments.buffer_offset);
  if (!is_inside(memory, offset, arguments.size)) return Error::of(hipFileInvalidValue);
  const bool is_write = arguments.direction == Direction::kWrite;
  Request request;
  request.file = &file;
  request.memory = memory;
  request.address = static_cast<char*>(const_cast<void*>(arguments.base)) + offset;
  request.size = std::min(arguments.size, kMaxTransfer);
  request.file_offset = arguments.file_offset;
  request.direction = arguments.direction;
  const uint64_t room =
      static_cast<uint64_t>(std::numeric_limits<off_t>::max() - arguments.file_offset);
  if (request.size > room) {
    if (room == 0) return Error::from_errno(is_write ? EFBIG : EINVAL);
    request.size = static_cast<size_t>(room);
  }
  request.asked = request.size;
  return request;
}

}  // namespace hipfile
