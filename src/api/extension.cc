// SPDX-License-Identifier: MIT
//
// The extensions of hipfile_ext.h.
#include <hipfile_ext.h>

#include "api/return_code.h"
#include "api/root.h"
#include "backend/names.h"

using hipfile::Arguments;
using hipfile::Direction;
using hipfile::guarded;
using hipfile::root;
using hipfile::to_error;

hipFileError_t hipFileExtQueryPath(hipFileHandle_t fh, const void* buffer_base, size_t size,
                                   hoff_t file_offset, hoff_t buffer_offset, hipFileOpcode_t opcode,
                                   hipFileExtPath_t* path) {
  const bool is_known = opcode == hipFileBatchRead || opcode == hipFileBatchWrite;
  if (path == nullptr || !is_known) return to_error(hipFileInvalidValue);
  const Direction direction = opcode == hipFileBatchRead ? Direction::kRead : Direction::kWrite;
  const Arguments arguments = {buffer_base, size, file_offset, buffer_offset, direction};
  const auto body = [&] { return to_error(root().query_path(fh, arguments, path)); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t hipFileExtGetFileInfo(hipFileHandle_t fh, hipFileExtFileInfo_t* info) {
  if (info == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] { return to_error(root().file_info(fh, info)); };
  return guarded(body, to_error(hipFileInternalError));
}

const char* hipFileExtBackendName(hipFileExtBackend_t backend) { return hipfile::name_of(backend); }
const char* hipFileExtRefusalName(hipFileExtRefusal_t refusal) { return hipfile::name_of(refusal); }
const char* hipFileExtViewReasonName(hipFileExtViewReason_t reason) {
  return hipfile::name_of(reason);
}

const char* hipFileExtEngine(const char** reason) {
  const auto body = [&]() -> const char* {
    const hipfile::EngineChoice& engines = root().engines();
    if (reason != nullptr) *reason = engines.reason.c_str();
    return engines.direct().name();
  };
  return guarded(body, static_cast<const char*>("none"));
}
