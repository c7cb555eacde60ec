// SPDX-License-Identifier: MIT
//
// Conversion to hipFileError_t, ssize_t and errno.
#include "api/return_code.h"

#include <cerrno>

#include "util/log.h"

namespace hipfile {
namespace {
constexpr int kCodes = 64;  // of hipFileOpError_t, from HIPFILE_BASE_ERR on
}

hipFileError_t to_error(hipFileOpError_t code) { return {code, hipSuccess}; }

namespace {

// The reason of every call that fails, at most once a second for each code.
void log_failure(const Error& error) {
  static LogLimit limits[kCodes];
  const int at = static_cast<int>(error.code) - HIPFILE_BASE_ERR;
  log_limited(limits[at > 0 && at < kCodes ? at : 0], LogLevel::kInfo,
              "a call fails: code %d, errno %d, HIP error %d", static_cast<int>(error.code),
              error.sys_errno, static_cast<int>(error.hip));
}

}  // namespace

hipFileError_t to_error(const Status& status) {
  if (status.ok()) return to_error(hipFileSuccess);
  const Error& error = status.error();
  if (is_logged(LogLevel::kInfo)) log_failure(error);
  if (error.hip != hipSuccess) return {hipFileHipDriverError, error.hip};
  if (error.sys_errno != 0) {
    return to_error(error.sys_errno == EINVAL ? hipFileInvalidValue : hipFileInternalError);
  }
  return to_error(error.code);
}

ssize_t to_count(const Result<size_t>& result) {
  if (result.ok()) return static_cast<ssize_t>(result.value());
  const Error& error = result.error();
  if (is_logged(LogLevel::kInfo)) log_failure(error);
  if (error.hip != hipSuccess)
    return -static_cast<ssize_t>(static_cast<int>(hipFileHipDriverError));
  if (error.sys_errno != 0) {
    errno = error.sys_errno;
    return -1;
  }
  return -static_cast<ssize_t>(static_cast<int>(error.code));
}

size_t to_event_ret(const Result<size_t>& result) {
  if (result.ok()) return result.value();
  const int error = result.error().sys_errno;
  const ssize_t ret = error != 0 ? -static_cast<ssize_t>(error) : to_count(result);
  return static_cast<size_t>(ret);
}

}  // namespace hipfile
