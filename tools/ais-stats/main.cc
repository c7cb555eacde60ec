// SPDX-License-Identifier: MIT
//
// ais-stats: what a program moves with hipFile.
#include "launch.h"

int main(int argc, char** argv) {
  ais_stats::Options options;
  if (const std::optional<int> status = ais_stats::parse_options(argc, argv, &options)) {
    return *status;
  }
  return options.pid != 0 ? ais_stats::attach(options) : ais_stats::launch(options);
}
