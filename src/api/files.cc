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

hipFileError_t register_file(hipFileHandle_t* fh, const hipFileDescr_t* descr) {
  if (fh == nullptr || descr == nullptr) return to_error(hipFileInvalidValue);
  if (!is_descriptor(*descr)) return to_error(hipFileIONotSupported);
  return to_error(root().register_file(descr->handle.fd, fh));
}

}  // namespace

hipFileError_t handle_register(hipFileHandle_t* fh, hipFileDescr_t* descr) {
  const auto body = [&] { return counted(stats::kHandleRegister, register_file(fh, descr)); };
  return guarded(body, to_error(hipFileInternalError));
}

void handle_deregister(hipFileHandle_t fh) {
  guarded(
      [&] {
        const bool is_known = root().deregister_file(fh);
        root().statistics().count(stats::kHandleDeregister, is_known);
        return is_known;
      },
      false);
}

}  // namespace hipfile::entry
