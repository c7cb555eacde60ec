// SPDX-License-Identifier: MIT
//
// The table. Defaults are those that were measured to be the fastest here; docs/configuration.md
// says where they differ from cuFile's.
#include "driver/parameters.h"

#include <hipfile.h>

#include <climits>
#include <cstdint>

#include "util/log.h"

namespace hipfile {
namespace {

constexpr size_t kMostKiB = SIZE_MAX / 1024 / 4 * 4;
constexpr size_t kGiBInKiB = 1 << 20;

struct Range {
  size_t least, most, multiple = 1;
};

constexpr Parameter number(int id, const char* name, const char* section, const char* key,
                           const char* variable, size_t initial, Range range, const char* unit) {
  return {ParameterKind::kSize,
          id,
          name,
          section,
          key,
          variable,
          initial,
          "",
          range.least,
          range.most,
          range.multiple,
          unit,
          id == hipFileParamProfileStats};
}
constexpr Parameter boolean(int id, const char* name, const char* section, const char* key,
                            const char* variable, bool initial) {
  return {ParameterKind::kBool, id, name, section, key, variable, initial};
}
constexpr Parameter string(int id, const char* name, const char* key, const char* variable,
                           const char* initial) {
  return {ParameterKind::kString, id, name, "logging", key, variable, 0, initial};
}

// clang-format off
constexpr Parameter kParameters[kParameterCount] = {
  number(hipFileParamProfileStats, "ProfileStats", "profile", "stats",
         "HIPFILE_STATS_LEVEL", 1, {0, 3}, ""),
  number(hipFileParamExecutionMaxIOQueueDepth, "ExecutionMaxIOQueueDepth", "execution",
         "max_io_queue_depth", "HIPFILE_MAX_IO_QUEUE_DEPTH", 128, {1, 4096}, "operations"),
  number(hipFileParamExecutionMaxIOThreads, "ExecutionMaxIOThreads", "execution",
         "max_io_threads", "HIPFILE_MAX_IO_THREADS", 0, {0, 1024}, "threads"),
  number(hipFileParamExecutionMinIOThresholdSizeKB, "ExecutionMinIOThresholdSizeKB", "execution",
         "min_io_threshold_size_kb", "HIPFILE_MIN_IO_THRESHOLD_SIZE_KB", 64, {0, kMostKiB}, "KiB"),
  number(hipFileParamExecutionMaxRequestParallelism, "ExecutionMaxRequestParallelism", "execution",
         "max_request_parallelism", "HIPFILE_MAX_REQUEST_PARALLELISM", 16, {0, 64}, "parts"),
  number(hipFileParamPropertiesMaxDirectIOSizeKB, "PropertiesMaxDirectIOSizeKB", "properties",
         "max_direct_io_size_kb", "HIPFILE_MAX_DIRECT_IO_SIZE_KB", 16384, {64, kGiBInKiB, 64},
         "KiB"),
  number(hipFileParamPropertiesMaxDeviceCacheSizeKB, "PropertiesMaxDeviceCacheSizeKB",
         "properties", "max_device_cache_size_kb", "HIPFILE_MAX_DEVICE_CACHE_SIZE_KB", 262144,
         {4, kMostKiB, 4}, "KiB"),
  number(hipFileParamPropertiesPerBufferCacheSizeKB, "PropertiesPerBufferCacheSizeKB",
         "properties", "per_buffer_cache_size_kb", "HIPFILE_PER_BUFFER_CACHE_SIZE_KB", 65536,
         {64, kMostKiB, 4}, "KiB"),
  number(hipFileParamPropertiesMaxDevicePinnedMemSizeKB, "PropertiesMaxDevicePinnedMemSizeKB",
         "properties", "max_device_pinned_mem_size_kb", "HIPFILE_MAX_DEVICE_PINNED_MEM_SIZE_KB",
         33554432, {4, kMostKiB, 4}, "KiB"),
  number(hipFileParamPropertiesIOBatchsize, "PropertiesIOBatchsize", "properties",
         "io_batchsize", "HIPFILE_IO_BATCHSIZE", 128, {1, 4096}, "requests"),
  number(hipFileParamPollthresholdSizeKB, "PollthresholdSizeKB", "properties",
         "poll_threshold_size_kb", "HIPFILE_POLL_THRESHOLD_SIZE_KB", 4, {0, kMostKiB, 4}, "KiB"),
  number(hipFileParamPropertiesBatchIOTimeoutMs, "PropertiesBatchIOTimeoutMs", "properties",
         "batch_io_timeout_ms", "HIPFILE_BATCH_IO_TIMEOUT_MS", 0, {0, INT_MAX}, "ms"),
  number(kAsyncBufferSize, "", "execution", "async_buffer_size",
         "HIPFILE_ASYNC_BUFFER_SIZE", 0, {0, SIZE_MAX}, "bytes"),

  boolean(hipFileParamPropertiesUsePollMode, "PropertiesUsePollMode", "properties",
          "use_poll_mode", "HIPFILE_USE_POLL_MODE", false),
  boolean(hipFileParamPropertiesAllowCompatMode, "PropertiesAllowCompatMode", "properties",
          "allow_compat_mode", "HIPFILE_ALLOW_COMPAT_MODE", true),
  boolean(hipFileParamForceCompatMode, "ForceCompatMode", "properties",
          "force_compat_mode", "HIPFILE_FORCE_COMPAT_MODE", false),
  boolean(hipFileParamFsMiscApiCheckAggressive, "FsMiscApiCheckAggressive", "properties",
          "fs_misc_api_check_aggressive", "HIPFILE_FS_MISC_API_CHECK_AGGRESSIVE", false),
  boolean(hipFileParamExecutionParallelIO, "ExecutionParallelIO", "execution",
          "parallel_io", "HIPFILE_PARALLEL_IO", true),
  boolean(hipFileParamProfileNvtx, "ProfileNvtx", "profile", "nvtx", "HIPFILE_PROFILE_NVTX",
          false),
  boolean(hipFileParamPropertiesAllowSystemMemory, "PropertiesAllowSystemMemory", "properties",
          "allow_system_memory", "HIPFILE_HOST", true),
  boolean(hipFileParamUsePcip2pdma, "UsePcip2pdma", "properties", "use_pci_p2pdma",
          "HIPFILE_USE_PCI_P2PDMA", false),
  boolean(hipFileParamPreferIOUring, "PreferIOUring", "execution", "prefer_io_uring",
          "HIPFILE_PREFER_IO_URING", false),
  boolean(hipFileParamForceOdirectMode, "ForceOdirectMode", "properties", "force_odirect_mode",
          "HIPFILE_FORCE_ODIRECT_MODE", false),
  boolean(hipFileParamSkipTopologyDetection, "SkipTopologyDetection", "properties",
          "skip_topology_detection", "HIPFILE_SKIP_TOPOLOGY_DETECTION", false),
  boolean(hipFileParamStreamMemopsBypass, "StreamMemopsBypass", "execution",
          "stream_memops_bypass", "HIPFILE_STREAM_MEMOPS_BYPASS", false),
  boolean(kUnsupportedFileSystems, "", "properties", "unsupported_file_systems",
          "HIPFILE_UNSUPPORTED_FILE_SYSTEMS", false),

  string(hipFileParamLoggingLevel, "LoggingLevel", "level", "HIPFILE_LOGGING_LEVEL", "ERROR"),
  string(hipFileParamEnvLogfilePath, "EnvLogfilePath", "file", "HIPFILE_LOGFILE_PATH", ""),
  string(hipFileParamLogDir, "LogDir", "dir", "HIPFILE_LOG_DIR", ""),
};
// clang-format on

std::string why_unfit_number(const Parameter& parameter, size_t value) {
  const bool is_inside = value >= parameter.least && value <= parameter.most;
  if (is_inside && value % parameter.multiple == 0) return "";
  std::string why = "must lie between " + std::to_string(parameter.least) + " and " +
                    std::to_string(parameter.most);
  if (*parameter.unit != '\0') why += std::string(" ") + parameter.unit;
  if (parameter.multiple != 1) why += ", in steps of " + std::to_string(parameter.multiple);
  return why;
}

std::string why_unfit_text(const Parameter& parameter, const std::string& value) {
  if (parameter.id == hipFileParamLoggingLevel) {
    return parse_log_level(value.c_str()) ? "" : "must be OFF, ERROR, WARNING, INFO or DEBUG";
  }
  return value.size() < PATH_MAX ? "" : "is too long for a path";
}

int require(ParameterKind kind, int id) {
  const int index = find_parameter(kind, id);
  return index < 0 ? 0 : index;
}

}  // namespace

std::span<const Parameter, kParameterCount> parameters() { return kParameters; }

int find_parameter(ParameterKind kind, int id) {
  for (size_t at = 0; at < kParameterCount; ++at) {
    if (kParameters[at].kind == kind && kParameters[at].id == id) return static_cast<int>(at);
  }
  return -1;
}

int find_parameter(const std::string& section, const std::string& key) {
  for (size_t at = 0; at < kParameterCount; ++at) {
    if (section == kParameters[at].section && key == kParameters[at].key) {
      return static_cast<int>(at);
    }
  }
  return -1;
}

std::string why_unfit(const Parameter& parameter, const Value& value) {
  if (value.index() != static_cast<size_t>(parameter.kind)) {
    constexpr const char* kWanted[] = {"a number that is not negative", "true or false", "a text"};
    return std::string("must be ") + kWanted[static_cast<size_t>(parameter.kind)];
  }
  if (const auto* number = std::get_if<size_t>(&value)) return why_unfit_number(parameter, *number);
  if (const auto* text = std::get_if<std::string>(&value)) return why_unfit_text(parameter, *text);
  return "";
}

Settings::Settings() {
  for (size_t at = 0; at < kParameterCount; ++at) {
    const Parameter& parameter = kParameters[at];
    switch (parameter.kind) {
      case ParameterKind::kSize:
        values_[at] = parameter.initial;
        break;
      case ParameterKind::kBool:
        values_[at] = parameter.initial != 0;
        break;
      case ParameterKind::kString:
        values_[at] = std::string(parameter.text);
        break;
    }
  }
}

size_t Settings::size(int id) const {
  return *std::get_if<size_t>(&at(require(ParameterKind::kSize, id)));
}
bool Settings::is_on(int id) const {
  return *std::get_if<bool>(&at(require(ParameterKind::kBool, id)));
}
const std::string& Settings::text(int id) const {
  return *std::get_if<std::string>(&at(require(ParameterKind::kString, id)));
}

}  // namespace hipfile
