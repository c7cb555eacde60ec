// SPDX-License-Identifier: MIT
//
// Errors as values. An Error keeps what really happened (a hipFile code, an errno, a HIP code);
// api/return_code turns it, once, into what C callers see.
#pragma once

#include <hipfile.h>

#include <optional>
#include <utility>
#include <variant>

namespace hipfile {

struct Error {
  hipFileOpError_t code = hipFileInternalError;
  int sys_errno = 0;            ///< the errno of a system call, or 0
  hipError_t hip = hipSuccess;  ///< the HIP code of a failed HIP call, or hipSuccess

  static Error of(hipFileOpError_t code) { return {code, 0, hipSuccess}; }
  static Error from_errno(int error) { return {hipFileInternalError, error, hipSuccess}; }
  static Error from_hip(hipError_t error) { return {hipFileHipDriverError, 0, error}; }
};

/// A value, or the error that stands in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(const Error& error) : state_(std::in_place_index<1>, error) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(const Error& error) : error_(error) {}

  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace hipfile
