// SPDX-License-Identifier: MIT
//
// The middle of a split request runs first and alone: parts of one request are never in flight
// together (rule 21), and an eligible failure then comes before any byte was moved.
#include "io/transfer.h"

#include <cerrno>

#include "backend/names.h"
#include "util/log.h"

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

Outcome run_split(const Plan& plan, const Request& request) {
  const Split& split = plan.split;
  const Outcome middle = plan.middle->run(request.part(split.middle_begin, split.middle_end));
  if (middle.failed() && middle.done == 0) return middle;
  Outcome head, tail;
  if (split.begin < split.middle_begin) {
    head = plan.whole->run(request.part(split.begin, split.middle_begin));
  }
  const bool is_middle_full =
      middle.done == static_cast<size_t>(split.middle_end - split.middle_begin);
  if (split.middle_end < split.end && is_middle_full && !middle.failed()) {
    tail = plan.whole->run(request.part(split.middle_end, split.end));
  }
  return join(split, head, middle, tail);
}

Outcome run(const Plan& plan, const Request& request) {
  return plan.middle != nullptr ? run_split(plan, request) : plan.whole->run(request);
}

}  // namespace

Outcome transfer(const BackendList& backends, const Request& request) {
  if (request.size == 0) return Outcome::moved(0);
  const Plan plan = make_plan(backends, request);
  if (!plan.is_accepted()) return Outcome::failure(Error::of(hipFileInternalError));
  const Outcome first = run(plan, request);
  if (!first.failed() || first.done != 0) return first;

  const Backend* failed = plan.middle != nullptr ? plan.middle : plan.whole;
  if (failed->id() != hipFileExtBackendFastpath || !is_eligible(first.error)) return first;
  if (is_lasting(first.error)) request.file->remember_fastpath_failure();
  const Plan second = make_plan(backends, request, failed->id());
  if (!second.is_accepted()) return first;
  log_info("%s failed with errno %d, the request goes to %s", name_of(failed->id()),
           first.error.sys_errno, name_of(second.whole->id()));
  return run(second, request);
}

}  // namespace hipfile
