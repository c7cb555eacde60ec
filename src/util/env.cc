// SPDX-License-Identifier: MIT
//
// Parsing by hand: strtoull would take signs, blanks and trailing text.
#include "util/env.h"

#include <strings.h>

#include <cstdint>
#include <cstdlib>

#include "util/log.h"

namespace hipfile {

std::optional<bool> parse_bool(const char* text) {
  for (const char* yes : {"true", "1", "yes", "on"}) {
    if (strcasecmp(text, yes) == 0) return true;
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    if (strcasecmp(text, no) == 0) return false;
  }
  return std::nullopt;
}

std::optional<size_t> parse_size(const char* text) {
  if (*text == '\0') return std::nullopt;
  size_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return std::nullopt;
    const auto digit = static_cast<size_t>(*text - '0');
    value = value > (SIZE_MAX - digit) / 10 ? SIZE_MAX : value * 10 + digit;
  }
  return value;
}

bool env_bool(const char* name, bool fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  const std::optional<bool> value = parse_bool(text);
  if (!value) log_error("%s='%s' is neither true nor false, and is ignored", name, text);
  return value.value_or(fallback);
}

size_t env_size(const char* name, size_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  const std::optional<size_t> value = parse_size(text);
  if (!value) log_error("%s='%s' is not a number, and is ignored", name, text);
  return value.value_or(fallback);
}

std::string env_string(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace hipfile
