// SPDX-License-Identifier: MIT
//
// The two ways to come by counters. Both return the exit status.
#pragma once

#include "options.h"

namespace ais_stats {

/// Starts the program, waits for its end and reports on each process of it that used hipFile.
int launch(const Options& options);

/// Looks at a process that runs.
int attach(const Options& options);

}  // namespace ais_stats
