// SPDX-License-Identifier: MIT
//
// The configuration in force, as the parts of the library want it: immutable, in their own units.
#pragma once

#include <cstddef>

#include "backend/options.h"
#include "driver/parameters.h"

namespace hipfile {

struct Config {
  BackendOptions backends;
  unsigned max_io_threads = 0;          ///< 0: as many as are of use here (rule 32)
  size_t ring_bytes = 0;                ///< MaxDeviceCacheSize: the bound of the ring
  size_t pinned_bytes = 0;              ///< MaxDevicePinnedMemSize
  size_t stats_level = 1;               ///< ProfileStats: 0 to 3
  bool traces_ranges = false;           ///< ProfileNvtx
  bool bypasses_memops = false;         ///< StreamMemopsBypass: async takes the blocking form
  unsigned batch_timeout_ms = 0;        ///< BatchIOTimeoutMs; 0: only what the call says
  size_t async_buffer_size = 16777216;  ///< HIPFILE_ASYNC_BUFFER_SIZE, bytes; 0 is the default too

  bool operator==(const Config&) const = default;
};

/// FORCE without ALLOW would leave nothing, so ALLOW is kept then. True if that was needed.
bool keep_a_path(Settings& settings);

Config make_config(const Settings& settings);

}  // namespace hipfile
