// SPDX-License-Identifier: MIT
//
// Runs a request by its plan, with at most one retry on another backend.
#pragma once

#include <optional>

#include "io/plan.h"
#include "util/statistics.h"

namespace hipfile {

/// What a request needs before it is planned: the view that it may take is opened, and a read ends
/// where the file does. (A direct read that passes the end clears the rest of its last block in
/// memory, and AMD's kernel driver answers EIO to it.)
void prepare(Request& request);

/// The plan of a second try, without the backend that failed; nothing where the first outcome
/// stands. A path that will never work for the file is remembered.
std::optional<Plan> plan_retry(const BackendList& backends, const Request& request,
                               const Plan& first, const Outcome& outcome);

/// Run `request`. If a backend fails before any byte was moved, and in a way that another may not
/// (ENODEV, EREMOTEIO, EOPNOTSUPP, EINVAL of the direct path), the next backend that accepts runs
/// the whole request once. A request that nobody accepts fails with hipFileInternalError.
/// @param[out] ran  if not NULL: the plan that ran last; untouched if nobody ran
Outcome transfer(const BackendList& backends, const Request& request, Plan* ran = nullptr);

/// The same, counted. @param begun_ns  Statistics::now() when the call began
/// @param moved  bytes from the start that need not be moved any more, and count all the same
Outcome transfer_counted(const BackendList& backends, const Request& request,
                         Statistics& statistics, uint64_t begun_ns, Plan* ran = nullptr,
                         size_t moved = 0);

}  // namespace hipfile
