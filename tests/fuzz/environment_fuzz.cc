// SPDX-License-Identifier: MIT
// The library's own variables, a line for each parameter in the order of their table.
#include <cstring>

#include "driver/config.h"
#include "driver/read_settings.h"
#include "fuzz.h"
#include "util/env.h"

namespace {

using hipfile::fuzz::require;

// The same number by the C library, which saturates too.
bool is_decimal(const std::string& text, size_t value) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
  static_assert(sizeof(size_t) == sizeof(unsigned long long));
  return std::strtoull(text.c_str(), nullptr, 10) == value;
}

void check_line(const char* text) {
  const std::optional<size_t> number = hipfile::parse_size(text);
  if (number) require(is_decimal(text, *number));
  const std::optional<bool> truth = hipfile::parse_bool(text);
  require(!truth || std::strlen(text) <= 5);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  for (const std::string& line : lines) check_line(line.c_str());
  size_t at = 0;
  for (const hipfile::Parameter& parameter : hipfile::parameters()) {
    const bool is_log = std::strstr(parameter.variable, "LOG") != nullptr;  // it would open files
    if (!is_log) hipfile::fuzz::set_variable(parameter.variable, lines, at);
    ++at;
  }
  ::setenv("HIPFILE_ENV_PATH_JSON", "", 1);
  hipfile::Settings settings = hipfile::read_settings();
  for (int index = 0; index < static_cast<int>(hipfile::kParameterCount); ++index) {
    const hipfile::Parameter& parameter = hipfile::parameters()[static_cast<size_t>(index)];
    require(hipfile::why_unfit(parameter, settings.at(index)).empty());
  }
  (void)hipfile::keep_a_path(settings);
  const hipfile::Config config = hipfile::make_config(settings);
  require(config.async_buffer_size != 0);
  require(config.backends.allow_compat || !config.backends.force_compat);
  return 0;
}
