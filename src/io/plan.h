// SPDX-License-Identifier: MIT
//
// Which backend takes a request. The one answer feeds the transfer, the extension query, the tools
// and the log.
#pragma once

#include <hipfile_ext.h>

#include <memory>
#include <vector>

#include "backend/backend.h"

namespace hipfile {

using BackendList = std::vector<std::unique_ptr<Backend>>;

/// The decision for one request.
struct Plan {
  /// Takes the whole request, or its edges when `middle` is set. NULL: nobody accepts.
  Backend* whole = nullptr;
  /// Takes the aligned middle, where the file offsets but not the whole request allow it.
  Backend* middle = nullptr;
  Split split = {0, 0, 0, 0};
  /// By hipFileExtBackend_t: why that backend does not take the whole request, or None.
  hipFileExtRefusal_t refusals[hipFileExtBackendCount] = {};

  bool is_accepted() const { return whole != nullptr; }
  bool is_on_fastpath() const { return is_accepted() && whole->id() == hipFileExtBackendFastpath; }
};

/// Walks the list in order and keeps the first that does not refuse. Pure: no I/O, no GPU call.
/// @param skip a backend that just failed and is not asked again, or hipFileExtBackendNone
Plan make_plan(const BackendList& backends, const Request& request,
               hipFileExtBackend_t skip = hipFileExtBackendNone);

}  // namespace hipfile
