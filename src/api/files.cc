// SPDX-License-Identifier: MIT
//
// Registration of files.
#include <hipfile.h>

#include <cstring>

#include "api/return_code.h"
#include "api/root.h"

using hipfile::guarded;
using hipfile::root;
using hipfile::to_error;

namespace {

// A caller in C may put any number there: C++ must not load one that is no enumerator as the enum.
bool is_descriptor(const hipFileDescr_t& descr) {
  int type = 0;
  static_assert(sizeof type == sizeof descr.type);
  std::memcpy(&type, &descr.type, sizeof type);
  return type == hipFileHandleTypeOpaqueFD;
}

}  // namespace

hipFileError_t hipFileHandleRegister(hipFileHandle_t* fh, hipFileDescr_t* descr) {
  if (fh == nullptr || descr == nullptr) return to_error(hipFileInvalidValue);
  if (!is_descriptor(*descr)) return to_error(hipFileIONotSupported);
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
