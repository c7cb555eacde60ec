// SPDX-License-Identifier: MIT
//
// From parameters in KiB and switches to what the parts read.
#include "driver/config.h"

#include <hipfile.h>

namespace hipfile {
namespace {

size_t bytes(const Settings& settings, hipFileSizeTConfigParameter_t id) {
  return settings.size(id) * 1024;
}
unsigned count(const Settings& settings, hipFileSizeTConfigParameter_t id) {
  return static_cast<unsigned>(settings.size(id));
}

BackendOptions make_options(const Settings& settings) {
  BackendOptions options;
  options.allow_compat = settings.is_on(hipFileParamPropertiesAllowCompatMode);
  options.force_compat = settings.is_on(hipFileParamForceCompatMode);
  options.any_file_system = settings.is_on(kUnsupportedFileSystems);
  options.allow_host = settings.is_on(hipFileParamPropertiesAllowSystemMemory);
  options.force_direct = settings.is_on(hipFileParamForceOdirectMode);
  options.prefer_uring = settings.is_on(hipFileParamPreferIOUring);
  options.queue_depth = count(settings, hipFileParamExecutionMaxIOQueueDepth);
  const bool is_parallel = settings.is_on(hipFileParamExecutionParallelIO);
  const unsigned parts = count(settings, hipFileParamExecutionMaxRequestParallelism);
  options.parallelism = is_parallel && parts != 0 ? parts : 1;
  options.parallel_threshold = bytes(settings, hipFileParamExecutionMinIOThresholdSizeKB);
  options.largest_io = bytes(settings, hipFileParamPropertiesMaxDirectIOSizeKB);
  options.request_staging = bytes(settings, hipFileParamPropertiesPerBufferCacheSizeKB);
  if (settings.is_on(hipFileParamPropertiesUsePollMode)) {
    options.poll_threshold = bytes(settings, hipFileParamPollthresholdSizeKB);
  }
  return options;
}

}  // namespace

bool keep_a_path(Settings& settings) {
  const bool is_forced = settings.is_on(hipFileParamForceCompatMode);
  if (!is_forced || settings.is_on(hipFileParamPropertiesAllowCompatMode)) return false;
  settings.set(find_parameter(ParameterKind::kBool, hipFileParamPropertiesAllowCompatMode), true);
  return true;
}

Config make_config(const Settings& settings) {
  Config config;
  config.backends = make_options(settings);
  config.max_io_threads = count(settings, hipFileParamExecutionMaxIOThreads);
  config.ring_bytes = bytes(settings, hipFileParamPropertiesMaxDeviceCacheSizeKB);
  config.pinned_bytes = bytes(settings, hipFileParamPropertiesMaxDevicePinnedMemSizeKB);
  config.stats_level = settings.size(hipFileParamProfileStats);
  config.traces_ranges = settings.is_on(hipFileParamProfileNvtx);
  config.bypasses_memops = settings.is_on(hipFileParamStreamMemopsBypass);
  config.batch_timeout_ms = count(settings, hipFileParamPropertiesBatchIOTimeoutMs);
  const size_t async_size = settings.size(kAsyncBufferSize);
  if (async_size != 0) config.async_buffer_size = async_size;
  return config;
}

}  // namespace hipfile
