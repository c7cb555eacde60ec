// SPDX-License-Identifier: MIT
//
// Opening and closing the library.
#include <hipfile.h>

#include "api/return_code.h"
#include "api/root.h"

using hipfile::guarded;
using hipfile::root;
using hipfile::to_error;

hipFileError_t hipFileDriverOpen(void) {
  const auto body = [] { return to_error(root().open()); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t hipFileDriverClose(void) {
  const auto body = [] { return to_error(root().close()); };
  return guarded(body, to_error(hipFileInternalError));
}

int64_t hipFileUseCount(void) {
  return guarded([] { return root().use_count(); }, int64_t{-1});
}
