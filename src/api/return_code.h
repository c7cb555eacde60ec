// SPDX-License-Identifier: MIT
//
// The one place where results become what C callers see.
#pragma once

#include <hipfile.h>

#include <new>

#include "util/cancel_guard.h"
#include "util/result.h"

namespace hipfile {

/// A status as hipFileError_t. An errno without a code of its own is hipFileInternalError, EINVAL
/// is hipFileInvalidValue.
hipFileError_t to_error(const Status& status);
hipFileError_t to_error(hipFileOpError_t code);

/// A byte count as ssize_t: the count; -1 with errno set last; or the negated code. The negation is
/// made on int: `-code` on the unsigned enum of C would give 4294962274.
ssize_t to_count(const Result<size_t>& result);

/// A byte count as `ret` of a batch event: the count, or -errno, or the negated code, in a size_t.
size_t to_event_ret(const Result<size_t>& result);

/// Runs the body of an entry point. Nothing escapes through extern "C": std::bad_alloc, the one
/// exception that the standard library may throw at us, becomes `on_exhaustion`. None of the
/// functions is a cancellation point.
template <class Body, class T>
T guarded(Body&& body, T on_exhaustion) {
  const CancelGuard no_cancellation;
  try {
    return body();
  } catch (...) {
    return on_exhaustion;
  }
}

}  // namespace hipfile
