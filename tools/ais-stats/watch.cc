// SPDX-License-Identifier: MIT
//
// Rates of a line are by wall clock, over the time since the line before.
#include "watch.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "util/statistics.h"
#include "util/stats_report.h"

namespace ais_stats {

namespace stats = hipfile::stats;
using hipfile::monotonic_ns;

Watch::Watch(double seconds)
    : period_ns_(static_cast<uint64_t>(seconds * 1e9)),
      begin_ns_(monotonic_ns()),
      last_ns_(begin_ns_) {}

int Watch::timeout_ms() const {
  if (period_ns_ == 0) return -1;
  const uint64_t passed = monotonic_ns() - last_ns_;
  return passed >= period_ns_ ? 0 : static_cast<int>((period_ns_ - passed) / 1000000 + 1);
}

Watch::Sums Watch::sums_of(const Views& views) {
  Sums sums = {};
  const auto totals = std::make_unique<stats::Totals>();
  for (const auto& view : views) {
    view->sum(totals.get());
    for (const stats::Path path : {stats::kFastpath, stats::kFallback}) {
      for (const stats::Way way : {stats::kRead, stats::kWrite}) {
        const auto cell = stats::sum_of(*totals, path, way);
        sums.bytes[way] += cell.bytes;
        sums.calls[way] += cell.ok;
        sums.errors += cell.err;
      }
    }
  }
  return sums;
}

void Watch::look(const Views& views) {
  const uint64_t now = monotonic_ns();
  if (period_ns_ == 0 || now - last_ns_ < period_ns_) return;
  const Sums sums = sums_of(views);
  const double seconds = static_cast<double>(now - last_ns_) / 1e9;
  const auto gib = [&](stats::Way way) {
    return static_cast<double>(sums.bytes[way] - last_.bytes[way]) / seconds / (1 << 30);
  };
  const auto calls = [&](stats::Way way) {
    return static_cast<double>(sums.calls[way] - last_.calls[way]) / seconds;
  };
  std::printf("%.1f s: read %.3f GiB/s %.0f /s, write %.3f GiB/s %.0f /s, errors %" PRIu64 "\n",
              static_cast<double>(now - begin_ns_) / 1e9, gib(stats::kRead), calls(stats::kRead),
              gib(stats::kWrite), calls(stats::kWrite), sums.errors);
  std::fflush(stdout);
  last_ = sums;
  last_ns_ = now;
}

bool print_reports(const Views& views) {
  const auto totals = std::make_unique<stats::Totals>();
  for (const auto& view : views) {
    view->sum(totals.get());
    if (views.size() > 1) std::printf("Process %" PRIu32 ":\n", view->header().pid);
    std::fputs(stats::make_report(view->header(), *totals).c_str(), stdout);
    if (views.size() > 1) std::puts("");
  }
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace ais_stats
