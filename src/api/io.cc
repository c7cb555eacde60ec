// SPDX-License-Identifier: MIT
//
// hipFileRead and hipFileWrite.
#include <hipfile.h>

#include "api/return_code.h"
#include "api/root.h"

namespace {

using hipfile::Arguments;
using hipfile::Direction;
using hipfile::Error;
using hipfile::Result;

ssize_t transfer(hipFileHandle_t fh, const Arguments& arguments) {
  const auto body = [&] { return hipfile::root().transfer(fh, arguments); };
  const Result<size_t> exhausted = Error::from_errno(ENOMEM);
  return hipfile::to_count(hipfile::guarded(body, exhausted));
}

}  // namespace

ssize_t hipFileRead(hipFileHandle_t fh, void* buffer_base, size_t size, hoff_t file_offset,
                    hoff_t buffer_offset) {
  return transfer(fh, {buffer_base, size, file_offset, buffer_offset, Direction::kRead});
}

ssize_t hipFileWrite(hipFileHandle_t fh, const void* buffer_base, size_t size, hoff_t file_offset,
                     hoff_t buffer_offset) {
  return transfer(fh, {buffer_base, size, file_offset, buffer_offset, Direction::kWrite});
}
