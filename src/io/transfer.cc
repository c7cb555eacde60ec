// SPDX-License-Identifier: MIT
//
// The middle of a split request runs first and alone: parts of one request are never in flight
// together (rule 21), and an eligible failure then comes before any byte was moved.
#include "io/transfer.h"

#include <cerrno>

#include "io/log_reasons.h"

namespace hipfile {
namespace {

// EFAULT is never eligible: it is a fault of ours or the caller's, and another backend hides it.
bool is_eligible(const Error& error) {
  switch (error.sys_errno) {
    case ENODEV:
    case EREMOTEIO:
    case EOPNOTSUPP:
    case EINVAL:
      return true;
    default:
      return false;
  }
}

bool is_lasting(const Error& error) {
  return error.sys_errno == ENODEV || error.sys_errno == EREMOTEIO;
}

Outcome run_plan(const Plan& plan, const Request& request) {
  if (plan.middle == nullptr) return plan.whole->run(request);
  return run_parts(
      plan.split, request, [&plan](const Request& part) { return plan.middle->run(part); },
      [&plan](const Request& part) { return plan.whole->run(part); });
}

Outcome run(const Plan& plan, const Request& request) {
  const Outcome outcome = run_plan(plan, request);
  log_outcome(outcome);
  return outcome;
}

}  // namespace

Outcome transfer(const BackendList& backends, const Request& request, Plan* ran) {
  if (request.size == 0) return Outcome::moved(0);
  const Plan plan = make_plan(backends, request);
  log_plan(plan);
  if (!plan.is_accepted()) return Outcome::failure(Error::of(hipFileInternalError));
  if (ran != nullptr) *ran = plan;
  const Outcome first = run(plan, request);
  if (!first.failed() || first.done != 0) return first;

  const Backend* failed = plan.middle != nullptr ? plan.middle : plan.whole;
  if (failed->id() != hipFileExtBackendFastpath || !is_eligible(first.error)) return first;
  if (is_lasting(first.error)) request.file->remember_fastpath_failure();
  const Plan second = make_plan(backends, request, failed->id());
  if (!second.is_accepted()) return first;
  log_failover(*failed, first.error, *second.whole);
  if (ran != nullptr) *ran = second;
  return run(second, request);
}

}  // namespace hipfile
