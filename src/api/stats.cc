// SPDX-License-Identifier: MIT
//
// The statistics of this process.
#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"
#include "driver/stats_levels.h"

namespace hipfile::entry {
namespace {

// 74 KiB: too much for the stack of a small thread.
std::unique_ptr<stats::Totals> sum_all() {
  auto totals = std::make_unique<stats::Totals>();
  root().statistics().sum(totals.get());
  return totals;
}

}  // namespace

hipFileError_t get_stats_l1(hipFileStatsLevel1_t* level) {
  if (level == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] {
    fill_level1(*sum_all(), level);
    return to_error(hipFileSuccess);
  };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t get_stats_l2(hipFileStatsLevel2_t* level) {
  if (level == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] {
    fill_level2(*sum_all(), level);
    return to_error(hipFileSuccess);
  };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t get_stats_l3(hipFileStatsLevel3_t* level) {
  if (level == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] {
    fill_level3(*sum_all(), root().statistics().header(), level);
    return to_error(hipFileSuccess);
  };
  return guarded(body, to_error(hipFileInternalError));
}

}  // namespace hipfile::entry

hipFileError_t hipFileExtGetRates(hipFileExtRates_t* rates) {
  using namespace hipfile;
  if (rates == nullptr) return to_error(hipFileInvalidValue);
  const auto body = [&] {
    auto totals = std::make_unique<stats::Totals>();
    root().statistics().sum(totals.get());
    fill_rates(*totals, rates);
    return to_error(hipFileSuccess);
  };
  return guarded(body, to_error(hipFileInternalError));
}
