// SPDX-License-Identifier: MIT
//
// The batch calls.
#include <chrono>
#include <ctime>
#include <optional>

#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {
namespace {

constexpr long kNanosecondsPerSecond = 1000000000;
// Longer waits are no different from it, and the clock's range is not passed.
constexpr time_t kLongestWait = 1000000000;

uint64_t to_value(hipFileBatchHandle_t batch) { return reinterpret_cast<uintptr_t>(batch); }

bool is_valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < kNanosecondsPerSecond;
}

std::optional<Batch::Clock::time_point> deadline_of(const timespec* timeout) {
  if (timeout == nullptr) return std::nullopt;
  const std::chrono::seconds seconds(std::min(timeout->tv_sec, kLongestWait));
  return Batch::Clock::now() + seconds + std::chrono::nanoseconds(timeout->tv_nsec);
}

hipFileError_t get_status(hipFileBatchHandle_t batch, unsigned min_nr, unsigned* nr,
                          hipFileIOEvents_t* events, const timespec* timeout) {
  const auto fetched = root().fetch_events(to_value(batch), min_nr, *nr, deadline_of(timeout));
  if (!fetched.ok()) return to_error(fetched.error());
  *nr = 0;
  for (const BatchEvent& event : fetched.value()) {
    events[(*nr)++] = {event.cookie, event.status, to_event_ret(event.result)};
  }
  return to_error(hipFileSuccess);
}

}  // namespace

hipFileError_t batch_io_set_up(hipFileBatchHandle_t* batch_idp, unsigned max_nr) {
  if (batch_idp == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] {
    uint64_t handle = 0;
    const Status made = root().set_up_batch(max_nr, &handle);
    if (made.ok()) *batch_idp = reinterpret_cast<hipFileBatchHandle_t>(uintptr_t{handle});
    return to_error(made);
  };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t batch_io_submit(hipFileBatchHandle_t batch_idp, unsigned nr,
                               hipFileIOParams_t* iocbp, unsigned /*flags*/) {
  const auto body = [&] { return to_error(root().submit_batch(to_value(batch_idp), iocbp, nr)); };
  return guarded(body, to_error(hipFileBatchSubmitFailed));
}

hipFileError_t batch_io_get_status(hipFileBatchHandle_t batch_idp, unsigned min_nr, unsigned* nr,
                                   hipFileIOEvents_t* iocbp, struct timespec* timeout) {
  const bool is_given = nr != nullptr && iocbp != nullptr;
  if (!is_given || *nr == 0 || min_nr > *nr) return to_error(hipFileInvalidValue);
  if (timeout != nullptr && !is_valid(*timeout)) return to_error(hipFileInvalidValue);
  const auto body = [&] { return get_status(batch_idp, min_nr, nr, iocbp, timeout); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t batch_io_cancel(hipFileBatchHandle_t batch_idp) {
  const auto body = [&] { return to_error(root().cancel_batch(to_value(batch_idp))); };
  return guarded(body, to_error(hipFileInternalError));
}

void batch_io_destroy(hipFileBatchHandle_t batch_idp) {
  guarded(
      [&] {
        root().destroy_batch(to_value(batch_idp));
        return true;
      },
      false);
}

}  // namespace hipfile::entry
