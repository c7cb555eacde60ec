// SPDX-License-Identifier: MIT
//
// Conversion to hipFileError_t, ssize_t and errno.
#include "api/return_code.h"

#include <cerrno>

namespace hipfile {

hipFileError_t to_error(hipFileOpError_t code) { return {code, hipSuccess}; }

hipFileError_t to_error(const Status& status) {
  if (status.ok()) return to_error(hipFileSuccess);
  const Error& error = status.error();
  if (error.hip != hipSuccess) return {hipFileHipDriverError, error.hip};
  if (error.sys_errno != 0) {
    return to_error(error.sys_errno == EINVAL ? hipFileInvalidValue : hipFileInternalError);
  }
  return to_error(error.code);
}

ssize_t to_count(const Result<size_t>& result) {
  if (result.ok()) return static_cast<ssize_t>(result.value());
  const Error& error = result.error();
  if (error.hip != hipSuccess)
    return -static_cast<ssize_t>(static_cast<int>(hipFileHipDriverError));
  if (error.sys_errno != 0) {
    errno = error.sys_errno;
    return -1;
  }
  return -static_cast<ssize_t>(static_cast<int>(error.code));
}

}  // namespace hipfile
