// SPDX-License-Identifier: MIT
//
// What the log is told of a request: refusals, failures, a failing over. Each reason at most once a
// second, so that one that comes with every request hides no other.
#pragma once

#include "io/plan.h"

namespace hipfile {

/// Why the backends that do not take the request refuse it: for curiosity, or (an error) because
/// nobody takes it.
void log_plan(const Plan& plan);

/// What stopped a request, if anything did.
void log_outcome(const Outcome& outcome);

/// Calls for streams of that kind take the blocking form. Once for each reason in turn.
void log_blocking(const char* reason);

/// An operation cannot be queued: no `bytes` of host memory could be pinned for it.
void log_unpinned(size_t bytes);

void log_failover(const Backend& from, const Error& error, const Backend& to);

}  // namespace hipfile
