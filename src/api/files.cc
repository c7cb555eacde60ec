// SPDX-License-Identifier: MIT
//
// Registration of files.
#include <cstring>

#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {
namespace {

// A caller in C may put any number there: C++ must not load one that is no enumerator as the enum.
bool is_descriptor(const hipFileDescr_t& descr) {
  int type = 0;
  static_assert(sizeof type == sizeof descr.type);
  std::memcpy(&type, &descr.type, sizeof type);
  return type == hipFileHandleTypeOpaqueFD;
}

}  // namespace

hipFileError_t handle_register(hipFileHandle_t* fh, hipFileDescr_t* descr) {
  if (fh == nullptr || descr == nullptr) return to_error(hipFileInvalidValue);
  if (!is_descriptor(*descr)) return to_error(hipFileIONotSupported);
  const auto body = [&] { return to_error(root().register_file(descr->handle.fd, fh)); };
  return guarded(body, to_error(hipFileInternalError));
}

void handle_deregister(hipFileHandle_t fh) {
  guarded(
      [&] {
        root().deregister_file(fh);
        return true;
      },
      false);
}

}  // namespace hipfile::entry
