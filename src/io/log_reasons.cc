// SPDX-License-Identifier: MIT
//
// The limits have static storage and no destructor: requests run while the program ends, too.
#include "io/log_reasons.h"

#include <atomic>

#include "backend/names.h"
#include "util/log.h"

namespace hipfile {
namespace {

LogLimit g_refusals[hipFileExtBackendCount][hipFileExtRefusalCount];
LogLimit g_nobody;
LogLimit g_failures;
LogLimit g_failovers;
LogLimit g_unpinned;

void log_refusals(const Plan& plan, LogLevel level) {
  for (int at = 0; at < hipFileExtBackendCount; ++at) {
    const hipFileExtRefusal_t refusal = plan.refusals[at];
    if (refusal == hipFileExtRefusalNone) continue;
    log_limited(g_refusals[at][refusal], level, "%s refuses a request: %s",
                name_of(static_cast<hipFileExtBackend_t>(at)), name_of(refusal));
  }
}

}  // namespace

void log_plan(const Plan& plan) {
  if (plan.is_accepted()) {
    if (is_logged(LogLevel::kDebug)) log_refusals(plan, LogLevel::kDebug);
    return;
  }
  log_limited(g_nobody, LogLevel::kError, "no backend takes a request");
  log_refusals(plan, LogLevel::kError);
}

void log_outcome(const Outcome& outcome) {
  if (!outcome.failed()) return;
  const Error& error = outcome.error;
  log_limited(g_failures, LogLevel::kInfo,
              "a request stopped after %zu bytes: code %d, errno %d, HIP error %d", outcome.done,
              static_cast<int>(error.code), error.sys_errno, static_cast<int>(error.hip));
}

void log_blocking(const char* reason) {
  static std::atomic<const char*> last{nullptr};
  if (last.load(std::memory_order_relaxed) == reason) return;
  if (last.exchange(reason, std::memory_order_relaxed) == reason) return;
  log_warning("calls for streams wait for them and do the work themselves: %s", reason);
}

void log_unpinned(size_t bytes) {
  log_limited(g_unpinned, LogLevel::kError,
              "an operation in a stream needs %zu KiB of pinned memory, which cannot be had",
              (bytes + 1023) >> 10);
}

void log_failover(const Backend& from, const Error& error, const Backend& to) {
  log_limited(g_failovers, LogLevel::kWarning, "%s failed with errno %d, the request goes to %s",
              name_of(from.id()), error.sys_errno, name_of(to.id()));
}

}  // namespace hipfile
