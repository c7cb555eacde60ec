// SPDX-License-Identifier: MIT
//
// Reads the environment variables of the runtime.

#include "settings.h"

#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace hip_portable {
namespace {

constexpr int kMaxDevices = 64;

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

void warn_ignored(const char* name, const char* value) {
  std::fprintf(stderr, "hip_portable: %s=%s is not understood and ignored\n", name, value);
}

BackendChoice read_backend() {
  const char* value = value_of("HIP_PORTABLE_BACKEND");
  if (value == nullptr || ::strcasecmp(value, "auto") == 0) return BackendChoice::kAuto;
  if (::strcasecmp(value, "cuda") == 0) return BackendChoice::kCuda;
  if (::strcasecmp(value, "emulated") == 0) return BackendChoice::kEmulated;
  // Not ignored: a backend that is asked for by name is never replaced by another.
  std::fprintf(stderr, "hip_portable: HIP_PORTABLE_BACKEND=%s is unknown (auto, cuda, emulated)\n",
               value);
  return BackendChoice::kUnknown;
}

int read_devices() {
  const char* value = value_of("HIP_PORTABLE_DEVICES");
  if (value == nullptr) return 1;
  char* end = nullptr;
  errno = 0;
  const long count = std::strtol(value, &end, 10);
  if (errno == 0 && *end == '\0' && count >= 1 && count <= kMaxDevices) {
    return static_cast<int>(count);
  }
  warn_ignored("HIP_PORTABLE_DEVICES", value);
  return 1;
}

std::uint64_t read_memory() {
  const char* value = value_of("HIP_PORTABLE_MEMORY");
  std::uint64_t bytes = 0;
  if (value == nullptr || parse_bytes(value, &bytes)) return bytes;
  warn_ignored("HIP_PORTABLE_MEMORY", value);
  return 0;
}

bool read_switch(const char* name) {
  const char* value = value_of(name);
  if (value == nullptr) return false;
  for (const char* yes : {"1", "true", "yes", "on"}) {
    if (::strcasecmp(value, yes) == 0) return true;
  }
  for (const char* no : {"0", "false", "no", "off"}) {
    if (::strcasecmp(value, no) == 0) return false;
  }
  warn_ignored(name, value);
  return false;
}

DirectRules read_direct() {
  const char* value = value_of("HIP_PORTABLE_DIRECT");
  if (value == nullptr || ::strcasecmp(value, "portable") == 0) return DirectRules::kPortable;
  if (::strcasecmp(value, "kernel") == 0) return DirectRules::kKernel;
  warn_ignored("HIP_PORTABLE_DIRECT", value);
  return DirectRules::kPortable;
}

void read_without(Settings* settings) {
  const char* value = value_of("HIP_PORTABLE_WITHOUT");
  if (value == nullptr) return;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name == "wait-value") {
      settings->has_wait_values = false;
    } else if (name == "indirect-copy") {
      settings->has_indirect_copies = false;
    } else {
      warn_ignored("HIP_PORTABLE_WITHOUT", value);
    }
  }
}

// Binary digits of the factor, -1 for a unit that is none.
int shift_of(const char* unit) {
  if (*unit == '\0' || ::strcasecmp(unit, "B") == 0) return 0;
  const char* const kUnits = "KMGT";
  const int letter = unit[0] & ~0x20;
  const char* found = letter == '\0' ? nullptr : std::strchr(kUnits, letter);  // a blank is none
  if (found == nullptr) return -1;
  const bool is_whole = unit[1] == '\0' || ::strcasecmp(unit + 1, "B") == 0 ||
                        ::strcasecmp(unit + 1, "iB") == 0;
  return is_whole ? 10 * static_cast<int>(found - kUnits + 1) : -1;
}

}  // namespace

bool parse_bytes(const char* text, std::uint64_t* bytes) {
  if (text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text, &end, 10);
  const int shift = shift_of(end);
  if (errno != 0 || shift < 0 || number > (UINT64_MAX >> shift)) return false;
  *bytes = static_cast<std::uint64_t>(number) << shift;
  return true;
}

Settings read_settings() {
  Settings settings;
  settings.backend = read_backend();
  settings.devices = read_devices();
  settings.memory = read_memory();
  settings.is_strict = read_switch("HIP_PORTABLE_STRICT");
  settings.has_hazards = read_switch("HIP_PORTABLE_HAZARDS");
  settings.direct = read_direct();
  read_without(&settings);
  return settings;
}

}  // namespace hip_portable
