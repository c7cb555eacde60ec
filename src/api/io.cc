// SPDX-License-Identifier: MIT
//
// hipFileRead and hipFileWrite.
#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {
namespace {

ssize_t transfer(hipFileHandle_t fh, const Arguments& arguments) {
  const auto body = [&] { return root().transfer(fh, arguments); };
  const Result<size_t> exhausted = Error::from_errno(ENOMEM);
  return to_count(guarded(body, exhausted));
}

}  // namespace

ssize_t read(hipFileHandle_t fh, void* buffer_base, size_t size, hoff_t file_offset,
             hoff_t buffer_offset) {
  return transfer(fh, {buffer_base, size, file_offset, buffer_offset, Direction::kRead});
}

ssize_t write(hipFileHandle_t fh, const void* buffer_base, size_t size, hoff_t file_offset,
              hoff_t buffer_offset) {
  return transfer(fh, {buffer_base, size, file_offset, buffer_offset, Direction::kWrite});
}

}  // namespace hipfile::entry
