// SPDX-License-Identifier: MIT
//
// Runs a request by its plan, with at most one retry on another backend.
#pragma once

#include "io/plan.h"

namespace hipfile {

/// Run `request`. If a backend fails before any byte was moved, and in a way that another may not
/// (ENODEV, EREMOTEIO, EOPNOTSUPP, EINVAL of the direct path), the next backend that accepts runs
/// the whole request once. A request that nobody accepts fails with hipFileInternalError.
/// @param[out] ran  if not NULL: the plan that ran last; untouched if nobody ran
Outcome transfer(const BackendList& backends, const Request& request, Plan* ran = nullptr);

}  // namespace hipfile
