// SPDX-License-Identifier: MIT
//
// A process that has not used hipFile yet is looked at again, less and less often, until it ends.
#include <algorithm>

#include "launch.h"
#include "util/process_end.h"
#include "watch.h"

namespace ais_stats {
namespace {

using hipfile::ProcessEnd;
using hipfile::stats::View;

constexpr int kLongestPauseMs = 200;

std::unique_ptr<View> find(const Options& options, const ProcessEnd& end) {
  View::Failure failure = View::Failure::kNoProcess;
  std::unique_ptr<View> view;
  bool is_over = !end.is_there();
  for (int pause_ms = 1; !is_over; pause_ms = std::min(2 * pause_ms, kLongestPauseMs)) {
    view = View::attach(options.pid, &failure);
    is_over = view != nullptr || failure != View::Failure::kNothing || options.is_immediate ||
              end.wait(pause_ms);
  }
  if (view == nullptr) {
    complain("process " + std::to_string(options.pid) + ": " + text_of(failure));
  }
  return view;
}

}  // namespace

int attach(const Options& options) {
  const ProcessEnd end(options.pid);
  Views views;
  views.push_back(find(options, end));
  if (views[0] == nullptr) return kExitFailure;
  Watch watch(options.watch_s);
  while (!options.is_immediate && !end.wait(watch.timeout_ms())) watch.look(views);
  if (print_reports(views)) return 0;
  complain("the report cannot be written");
  return kExitFailure;
}

}  // namespace ais_stats
