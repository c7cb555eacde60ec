// SPDX-License-Identifier: MIT
//
// The configuration of the library: the environment, read once per process at first use.
#pragma once

#include <cstddef>

#include "backend/options.h"

namespace hipfile {

struct Config {
  BackendOptions backends;
  // Read and checked, so that a wrong value is told; statistics and async, which use them, are not
  // there yet.
  size_t stats_level = 1;               ///< HIPFILE_STATS_LEVEL, clamped to 2
  size_t async_buffer_size = 16777216;  ///< HIPFILE_ASYNC_BUFFER_SIZE, bytes; 0 is the default too
};

/// Reads the environment. A value that cannot be parsed is ignored, with one warning. FORCE without
/// ALLOW would leave nothing, so ALLOW is kept then, with a warning.
Config read_config();

}  // namespace hipfile
