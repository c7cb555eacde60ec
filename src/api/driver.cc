// SPDX-License-Identifier: MIT
//
// Opening and closing the library.
#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {

hipFileError_t driver_open() {
  const auto body = [] { return to_error(root().open()); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t driver_close() {
  const auto body = [] { return to_error(root().close()); };
  return guarded(body, to_error(hipFileInternalError));
}

int64_t use_count() {
  return guarded([] { return root().use_count(); }, int64_t{-1});
}

}  // namespace hipfile::entry
