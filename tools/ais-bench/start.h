// SPDX-License-Identifier: MIT
//
// How long a process takes from its start to the first bytes in device memory. The child is this
// program again: it says when it reached main(), had a device, and had the bytes.
#pragma once

#include <cstdint>

#include "measure.h"
#include "options.h"

namespace ais_bench {

/// Processes that use hipFile and such that do the same by hand, in turn; then their stages.
std::vector<Figure> measure_start(const Options& options);

/// One such process. `main_ns` is when it began.
int run_child(const Options& options, int64_t main_ns);

}  // namespace ais_bench
