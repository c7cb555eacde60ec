// SPDX-License-Identifier: MIT
// The library's own variables: numbers, booleans and what the configuration makes of them.
#include <cerrno>

#include "driver/config.h"
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

const char* const kVariables[] = {"HIPFILE_ALLOW_COMPAT_MODE",
                                  "HIPFILE_FORCE_COMPAT_MODE",
                                  "HIPFILE_UNSUPPORTED_FILE_SYSTEMS",
                                  "HIPFILE_HOST",
                                  "HIPFILE_STATS_LEVEL",
                                  "HIPFILE_ASYNC_BUFFER_SIZE"};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ::setenv("HIPFILE_LOGGING_LEVEL", "off", 1);
  const std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  for (const std::string& line : lines) {
    const char* text = line.c_str();
    const std::optional<size_t> number = hipfile::parse_size(text);
    if (number) require(is_decimal(text, *number));
    const std::optional<bool> truth = hipfile::parse_bool(text);
    require(!truth || std::string(text).size() <= 5);
  }
  for (size_t at = 0; at < std::size(kVariables); ++at) {
    hipfile::fuzz::set_variable(kVariables[at], lines, at);
  }
  const hipfile::Config config = hipfile::read_config();
  require(config.stats_level <= 2 && config.async_buffer_size != 0);
  require(config.backends.allow_compat || !config.backends.force_compat);
  return 0;
}
