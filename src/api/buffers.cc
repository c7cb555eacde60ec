// SPDX-License-Identifier: MIT
//
// Registration of buffers.
#include <hipfile.h>

#include "api/return_code.h"
#include "api/root.h"

using hipfile::guarded;
using hipfile::root;
using hipfile::to_error;

hipFileError_t hipFileBufRegister(const void* buffer_base, size_t length, int /*flags*/) {
  const auto body = [&] { return to_error(root().register_buffer(buffer_base, length)); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t hipFileBufDeregister(const void* buffer_base) {
  const auto body = [&] { return to_error(root().deregister_buffer(buffer_base)); };
  return guarded(body, to_error(hipFileInternalError));
}
