// SPDX-License-Identifier: MIT
//
// Parameters and properties of the driver, and what an opened or closed driver does with them.
#include <utility>

#include "driver/apply_log.h"
#include "driver/driver.h"
#include "util/log.h"
#include "util/ranges.h"

namespace hipfile {
namespace {

unsigned bit(int position) { return 1u << position; }

uint64_t size_of(const Settings& settings, hipFileSizeTConfigParameter_t id) {
  return settings.size(id);
}

}  // namespace

Result<Value> Driver::get_parameter(ParameterKind kind, int id) {
  const int index = id < kFirstOwnParameter ? find_parameter(kind, id) : -1;
  if (index < 0) return Error::of(hipFileInvalidValue);
  MutexLock lock(mutex_);
  return configuration_.get(index);
}

Status Driver::set_parameter(ParameterKind kind, int id, Value value) {
  const int index = id < kFirstOwnParameter ? find_parameter(kind, id) : -1;
  if (index < 0) return Error::of(hipFileInvalidValue);
  const Parameter& parameter = parameters()[static_cast<size_t>(index)];
  const std::string why = why_unfit(parameter, value);
  if (!why.empty()) log_info("parameter %s %s", parameter.name, why.c_str());
  MutexLock lock(mutex_);
  if (use_count() != 0) return Error::of(hipFileDriverAlreadyOpen);
  if (!why.empty()) return Error::of(hipFileInvalidValue);
  configuration_.stage(index, std::move(value));
  return Status();
}

// As a Get of each parameter would answer.
Settings Driver::settings() {
  Settings settings;
  MutexLock lock(mutex_);
  for (size_t at = 0; at < kParameterCount; ++at) {
    settings.set(static_cast<int>(at), configuration_.get(static_cast<int>(at)));
  }
  return settings;
}

hipFileDriverProps_t Driver::properties() {
  const Settings now = settings();
  hipFileDriverProps_t props = {};
  props.nvfs.major_version = HIPFILE_VERSION_MAJOR;
  props.nvfs.minor_version = HIPFILE_VERSION_MINOR;
  props.nvfs.poll_thresh_size = size_of(now, hipFileParamPollthresholdSizeKB);
  props.nvfs.max_direct_io_size = size_of(now, hipFileParamPropertiesMaxDirectIOSizeKB);
  if (!now.is_on(hipFileParamForceCompatMode) && gpu_.offers_direct_io()) {
    props.nvfs.driver_status_flags = bit(hipFileNVMeSupported) | bit(hipFileNVMeP2PSupported);
  }
  if (now.is_on(hipFileParamPropertiesUsePollMode)) {
    props.nvfs.driver_control_flags |= bit(hipFileUsePollMode);
  }
  if (now.is_on(hipFileParamPropertiesAllowCompatMode)) {
    props.nvfs.driver_control_flags |= bit(hipFileAllowCompatMode);
  }
  props.feature_flags = bit(hipFileBatchIOSupported) | bit(hipFileStreamsSupported);
  if (now.is_on(hipFileParamExecutionParallelIO)) {
    props.feature_flags |= bit(hipFileParallelIOSupported);
  }
  props.max_device_cache_size = size_of(now, hipFileParamPropertiesMaxDeviceCacheSizeKB);
  props.per_buffer_cache_size = size_of(now, hipFileParamPropertiesPerBufferCacheSizeKB);
  props.max_device_pinned_mem_size = size_of(now, hipFileParamPropertiesMaxDevicePinnedMemSizeKB);
  props.max_batch_io_count = static_cast<unsigned>(now.size(hipFileParamPropertiesIOBatchsize));
  props.max_batch_io_timeout_msecs =
      static_cast<unsigned>(now.size(hipFileParamPropertiesBatchIOTimeoutMs));
  return props;
}

// Whoever comes last applies the latest, so threads that open and close at once leave no mixture.
// Held across stat(2) of the log directory: nobody on the I/O path takes it.
void Driver::apply_configuration() {
  MutexLock applying(applying_);
  Settings settings;
  bool has_kept_path = false;
  {
    MutexLock lock(mutex_);
    settings = configuration_.settings();
    has_kept_path = configuration_.has_kept_path();
  }
  if (!apply_log(settings)) {
    MutexLock lock(mutex_);
    configuration_.drop(find_parameter(ParameterKind::kString, hipFileParamLogDir));
  }
  if (has_kept_path) {
    log_error("compat mode is forced and not allowed, which leaves no path; it stays allowed");
  }
  const Config& now = config();
  engines_.limit_threads(now.max_io_threads);
  trace::set_ranges(now.traces_ranges);
  statistics_.set_level(static_cast<unsigned>(now.stats_level));
  ring_.limit(ring_limit(now.ring_bytes), now.pinned_bytes);
  stream_memory_.set_lane_size(now.async_buffer_size);
}

}  // namespace hipfile
