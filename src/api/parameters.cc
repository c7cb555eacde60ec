// SPDX-License-Identifier: MIT
//
// Parameters, properties, and the setters of properties, which write the same parameters.
#include <climits>
#include <cstring>

#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"
#include "util/enum_number.h"

namespace hipfile::entry {
namespace {

template <class Body>
hipFileError_t guarded_error(const Body& body) {
  return guarded(body, to_error(hipFileInternalError));
}

Status set(ParameterKind kind, int id, Value value) {
  return root().set_parameter(kind, id, std::move(value));
}

template <class T>
hipFileError_t get(ParameterKind kind, int id, T* value) {
  if (value == nullptr) return to_error(hipFileInvalidValue);
  return guarded_error([&] {
    const Result<Value> found = root().get_parameter(kind, id);
    if (!found.ok()) return to_error(found.error());
    *value = *std::get_if<T>(&found.value());
    return to_error(hipFileSuccess);
  });
}

// A limit that does not fit has a code of its own here.
hipFileError_t set_limit(hipFileSizeTConfigParameter_t id, size_t value) {
  return guarded_error([&] {
    const Status status = set(ParameterKind::kSize, id, value);
    const bool is_unfit = !status.ok() && status.error().code == hipFileInvalidValue;
    return is_unfit ? to_error(hipFileDriverUnsupportedLimit) : to_error(status);
  });
}

}  // namespace

hipFileError_t driver_get_properties(hipFileDriverProps_t* props) {
  if (props == nullptr) return to_error(hipFileInvalidValue);
  return guarded_error([&] {
    *props = root().properties();
    return to_error(hipFileSuccess);
  });
}

hipFileError_t driver_set_poll_mode(bool poll, size_t poll_threshold_size) {
  const hipFileError_t error = set_limit(hipFileParamPollthresholdSizeKB, poll_threshold_size);
  if (error.err != hipFileSuccess) return error;
  return set_parameter_bool(hipFileParamPropertiesUsePollMode, poll);
}

hipFileError_t driver_set_max_direct_io_size(size_t max_direct_io_size) {
  return set_limit(hipFileParamPropertiesMaxDirectIOSizeKB, max_direct_io_size);
}

hipFileError_t driver_set_max_cache_size(size_t max_cache_size) {
  return set_limit(hipFileParamPropertiesMaxDeviceCacheSizeKB, max_cache_size);
}

hipFileError_t driver_set_max_pinned_mem_size(size_t max_pinned_size) {
  return set_limit(hipFileParamPropertiesMaxDevicePinnedMemSizeKB, max_pinned_size);
}

hipFileError_t get_parameter_size_t(hipFileSizeTConfigParameter_t param, size_t* value) {
  return get(ParameterKind::kSize, number_of(param), value);
}

hipFileError_t get_parameter_bool(hipFileBoolConfigParameter_t param, bool* value) {
  return get(ParameterKind::kBool, number_of(param), value);
}

hipFileError_t get_parameter_string(hipFileStringConfigParameter_t param, char* desc_str, int len) {
  if (desc_str == nullptr || len <= 0) return to_error(hipFileInvalidValue);
  std::string text;
  const hipFileError_t error = get(ParameterKind::kString, number_of(param), &text);
  if (error.err != hipFileSuccess) return error;
  if (text.size() >= static_cast<size_t>(len)) return to_error(hipFileInvalidValue);
  std::memcpy(desc_str, text.c_str(), text.size() + 1);
  return error;
}

hipFileError_t set_parameter_size_t(hipFileSizeTConfigParameter_t param, size_t value) {
  return guarded_error(
      [&] { return to_error(set(ParameterKind::kSize, number_of(param), value)); });
}

hipFileError_t set_parameter_bool(hipFileBoolConfigParameter_t param, bool value) {
  return guarded_error(
      [&] { return to_error(set(ParameterKind::kBool, number_of(param), value)); });
}

hipFileError_t set_parameter_string(hipFileStringConfigParameter_t param, const char* desc_str) {
  if (desc_str == nullptr) return to_error(hipFileInvalidValue);
  return guarded_error([&] {
    return to_error(set(ParameterKind::kString, number_of(param), std::string(desc_str)));
  });
}

}  // namespace hipfile::entry
