// SPDX-License-Identifier: MIT
//
// Reads HIPFILE_* (specification 4.7).
#include "driver/config.h"

#include <algorithm>

#include "util/env.h"
#include "util/log.h"

namespace hipfile {
namespace {
constexpr size_t kHighestStatsLevel = 2;
}

Config read_config() {
  Config config;
  BackendOptions& backends = config.backends;
  backends.allow_compat = env_bool("HIPFILE_ALLOW_COMPAT_MODE", backends.allow_compat);
  backends.force_compat = env_bool("HIPFILE_FORCE_COMPAT_MODE", backends.force_compat);
  backends.any_file_system = env_bool("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", backends.any_file_system);
  backends.allow_host = env_bool("HIPFILE_HOST", backends.allow_host);
  if (backends.force_compat && !backends.allow_compat) {
    log_error(
        "HIPFILE_FORCE_COMPAT_MODE=true with HIPFILE_ALLOW_COMPAT_MODE=false leaves no path; "
        "compat mode stays allowed");
    backends.allow_compat = true;
  }
  config.stats_level =
      std::min(env_size("HIPFILE_STATS_LEVEL", config.stats_level), kHighestStatsLevel);
  const size_t size = env_size("HIPFILE_ASYNC_BUFFER_SIZE", config.async_buffer_size);
  if (size != 0) config.async_buffer_size = size;
  return config;
}

}  // namespace hipfile
