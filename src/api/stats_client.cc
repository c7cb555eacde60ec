// SPDX-License-Identifier: MIT
//
// The functions of hipfile-stats.h. They are about another process and stand in no table.
#include <hipfile-stats.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "api/return_code.h"
#include "util/process_end.h"
#include "util/stats_report.h"
#include "util/stats_view.h"

struct hipFileStatsContext {
  explicit hipFileStatsContext(pid_t target) : pid(target), end(target) {}
  pid_t pid;
  hipfile::ProcessEnd end;
  std::unique_ptr<hipfile::stats::View> view;
};

namespace {

using hipfile::guarded;
using hipfile::stats::Totals;
using hipfile::stats::View;

bool write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

hipFileStatsError_t hipFileStatsCreateContext(hipFileStatsContext_t** context, int targetPid) {
  if (context == nullptr || targetPid <= 0) return hipFileStatsInvalidArgument;
  const auto body = [&] {
    *context = new hipFileStatsContext(targetPid);
    return hipFileStatsSuccess;
  };
  return guarded(body, hipFileStatsInvalidArgument);
}

void hipFileStatsCloseContext(hipFileStatsContext_t* context) { delete context; }

hipFileStatsError_t hipFileStatsConnectToTargetProcess(hipFileStatsContext_t* context) {
  if (context == nullptr) return hipFileStatsInvalidArgument;
  const auto body = [&] {
    if (!context->end.is_there()) return hipFileStatsTargetProcessNotFound;
    View::Failure failure = View::Failure::kNone;
    context->view = View::attach(context->pid, &failure);
    if (context->view != nullptr) return hipFileStatsSuccess;
    return failure == View::Failure::kNoProcess ? hipFileStatsTargetProcessNotFound
                                                : hipFileStatsTargetProcessNotAccessible;
  };
  return guarded(body, hipFileStatsTargetProcessNotAccessible);
}

hipFileStatsError_t hipFileStatsPollTargetProcess(const hipFileStatsContext_t* context,
                                                  bool block) {
  if (context == nullptr || context->view == nullptr) return hipFileStatsInvalidArgument;
  while (!context->end.wait(block ? -1 : 0) && block) {
  }
  return hipFileStatsSuccess;
}

hipFileStatsError_t hipFileStatsGenerateReport(const hipFileStatsContext_t* context, int fd) {
  if (context == nullptr || context->view == nullptr) return hipFileStatsInvalidArgument;
  const auto body = [&] {
    const auto totals = std::make_unique<Totals>();
    context->view->sum(totals.get());
    const std::string text = make_report(context->view->header(), *totals);
    return write_all(fd, text) ? hipFileStatsSuccess : hipFileStatsReportGenerationFailed;
  };
  return guarded(body, hipFileStatsReportGenerationFailed);
}
