// SPDX-License-Identifier: MIT
//
// aiscp: copies files through device memory, used like cp.
#include <clocale>
#include <cstdio>

#include "copy_file.h"
#include "operands.h"
#include "signals.h"

namespace aiscp {
namespace {

bool copy_all(const Options& options, const std::vector<CopyPair>& pairs) {
  Progress progress(options, pairs.size());
  Copier copier(options, &progress);
  bool is_all_copied = true;
  for (const CopyPair& pair : pairs) {
    if (is_stopping()) break;
    if (!copier.copy(pair)) is_all_copied = false;
  }
  progress.end();
  if (options.wants_stats && !is_stopping()) {
    std::fputs(progress.summary(copier.describe_device(), copier.describe_paths()).c_str(),
               stderr);
  }
  return is_all_copied;
}

int run(int argc, char** argv) {
  reserve_standard_streams();
  std::setlocale(LC_ALL, "");
  Options options;
  std::vector<CopyPair> pairs;
  if (const std::optional<int> status = parse_options(argc, argv, &options)) return *status;
  if (const std::optional<int> status = pair_operands(options, &pairs)) return *status;

  watch_signals();
  if (const Status status = Device::prepare_environment(options); !status.ok()) {
    complain(status.text());
    return kExitFailure;
  }
  bool is_all_copied = copy_all(options, pairs);
  die_if_stopping();
  if (!close_output()) {
    complain("write error");
    is_all_copied = false;
  }
  return is_all_copied ? 0 : kExitFailure;
}

}  // namespace
}  // namespace aiscp

int main(int argc, char** argv) { return aiscp::run(argc, argv); }
