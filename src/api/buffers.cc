// SPDX-License-Identifier: MIT
//
// Registration of buffers.
#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {

hipFileError_t buf_register(const void* buffer_base, size_t length, int /*flags*/) {
  const auto body = [&] {
    return counted(stats::kBufferRegister, to_error(root().register_buffer(buffer_base, length)));
  };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t buf_deregister(const void* buffer_base) {
  const auto body = [&] {
    return counted(stats::kBufferDeregister, to_error(root().deregister_buffer(buffer_base)));
  };
  return guarded(body, to_error(hipFileInternalError));
}

}  // namespace hipfile::entry
