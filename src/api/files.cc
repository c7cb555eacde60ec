// SPDX-License-Identifier: MIT
//
// Registration of files.
#include <hipfile.h>

#include "api/return_code.h"
#include "api/root.h"

using hipfile::guarded;
using hipfile::root;
using hipfile::to_error;

hipFileError_t hipFileHandleRegister(hipFileHandle_t* fh, hipFileDescr_t* descr) {
  if (fh == nullptr || descr == nullptr) return to_error(hipFileInvalidValue);
  if (descr->type != hipFileHandleTypeOpaqueFD) return to_error(hipFileIONotSupported);
  const auto body = [&] { return to_error(root().register_file(descr->handle.fd, fh)); };
  return guarded(body, to_error(hipFileInternalError));
}

void hipFileHandleDeregister(hipFileHandle_t fh) {
  guarded(
      [&] {
        root().deregister_file(fh);
        return true;
      },
      false);
}
