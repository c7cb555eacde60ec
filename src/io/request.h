// SPDX-License-Identifier: MIT
//
// From the arguments of a call to a valid request: signs, overflow, range, the size cap. No I/O and
// no GPU call, so that it is tested by table.
#pragma once

#include "backend/backend.h"
#include "util/result.h"

namespace hipfile {

/// Linux moves at most this much per call: INT_MAX rounded down to the page (read(2), NOTES).
constexpr size_t kMaxTransfer = 0x7ffff000;

/// What a caller asks for, before anything is known of file and memory.
struct Arguments {
  const void* base = nullptr;
  size_t size = 0;
  off_t file_offset = 0;
  off_t buffer_offset = 0;
  Direction direction = Direction::kRead;
};

/// The checks that need neither file nor memory: hipFileInvalidValue for a NULL base, EINVAL for a
/// negative offset.
Status check_arguments(const Arguments& arguments);

/// The request on `file` and `memory`. hipFileInvalidValue if the range leaves the memory (judged
/// before the cap), EFBIG or a capped size where the file range passes the largest offset.
Result<Request> make_request(const Arguments& arguments, File& file, const Memory& memory);

}  // namespace hipfile
