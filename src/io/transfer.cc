// SPDX-License-Identifier: MIT
//
// The middle of a split request runs first and alone: parts of one request are never in flight
// together (rule 21), and an eligible failure then comes before any byte was moved.
#include "io/transfer.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "io/count.h"
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

void prepare(Request& request) {
  File& file = *request.file;
  const bool is_direct = file.direct_fd(request.direction) >= 0;
  const bool is_readable = (file.facts().status_flags & O_ACCMODE) != O_WRONLY;  // else EBADF
  if (!is_direct || !request.is_read() || !is_readable) return;
  const std::optional<off_t> size = file.size_now();
  if (!size) return;
  const off_t left = std::max<off_t>(0, *size - request.file_offset);
  request.size = std::min(request.size, static_cast<size_t>(left));
}

std::optional<Plan> plan_retry(const BackendList& backends, const Request& request,
                               const Plan& first, const Outcome& outcome) {
  if (!outcome.failed() || outcome.done != 0) return std::nullopt;
  const Backend* failed = first.middle != nullptr ? first.middle : first.whole;
  const bool is_fastpath = failed->id() == hipFileExtBackendFastpath;
  if (!is_fastpath || !is_eligible(outcome.error)) return std::nullopt;
  if (is_lasting(outcome.error)) request.file->remember_fastpath_failure();
  const Plan second = make_plan(backends, request, failed->id());
  if (!second.is_accepted()) return std::nullopt;
  log_failover(*failed, outcome.error, *second.whole);
  return second;
}

Outcome transfer(const BackendList& backends, const Request& request, Plan* ran) {
  if (request.size == 0) return Outcome::moved(0);
  const Plan plan = make_plan(backends, request);
  log_plan(plan);
  if (!plan.is_accepted()) return Outcome::failure(Error::of(hipFileInternalError));
  if (ran != nullptr) *ran = plan;
  const Outcome first = run(plan, request);
  const std::optional<Plan> second = plan_retry(backends, request, plan, first);
  if (!second) return first;
  if (ran != nullptr) *ran = *second;
  return run(*second, request);
}

Outcome transfer_counted(const BackendList& backends, const Request& request,
                         Statistics& statistics, uint64_t begun_ns, Plan* ran, size_t moved) {
  Plan plan;
  const off_t reached = request.file_offset + static_cast<off_t>(moved);
  Outcome outcome = transfer(backends, request.part(reached, request.end()), &plan);
  outcome.done += moved;
  if (plan.is_accepted()) {
    count_request(statistics, plan, request, outcome, begun_ns);
  } else {
    count_without_backend(statistics, request.direction, !outcome.failed());
  }
  if (ran != nullptr) *ran = plan;
  return outcome;
}

}  // namespace hipfile
