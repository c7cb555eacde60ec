// SPDX-License-Identifier: MIT
//
// The watchdog: a wait of more than 10 s (HIPFILE_WATCHDOG_MS) is logged with its stage, so that a
// hang says where it is. It only speaks; it opens nothing and ends nothing (rule 34).
#pragma once

#include <cstdint>

namespace hipfile {

struct WaitRecord;

/// Marks the calling thread as waiting while it lives. May be nested; the innermost counts. Costs
/// two stores and a look at the coarse clock.
class WaitMark {
 public:
  /// @param stage what is waited for, constant storage
  explicit WaitMark(const char* stage);
  ~WaitMark();
  WaitMark(const WaitMark&) = delete;
  WaitMark& operator=(const WaitMark&) = delete;

 private:
  WaitRecord& record_;
  const char* const outer_stage_;
  const int64_t outer_since_ms_;
};

/// Log, once each, the waits that have lasted `limit_ms` at `now_ms`. Returns how many were new.
int report_long_waits(int64_t now_ms, int64_t limit_ms);

/// The clock of the marks: milliseconds, monotonic, coarse.
int64_t coarse_ms();

}  // namespace hipfile
