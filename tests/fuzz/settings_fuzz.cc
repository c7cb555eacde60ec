// SPDX-License-Identifier: MIT
// The variables of the portable runtime.
#include "fuzz.h"
#include "hip/src/settings.h"

namespace {

using hipfile::fuzz::require;

const char* const kVariables[] = {"HIP_PORTABLE_BACKEND", "HIP_PORTABLE_DEVICES",
                                  "HIP_PORTABLE_MEMORY", "HIP_PORTABLE_STRICT",
                                  "HIP_PORTABLE_DIRECT"};

// Digits times a power of 1024, without a carry.
void check_bytes(const char* text) {
  std::uint64_t bytes = 0;
  if (!hip_portable::parse_bytes(text, &bytes)) return;
  const std::uint64_t number = std::strtoull(text, nullptr, 10);
  bool is_power = number == 0 && bytes == 0;
  for (int shift = 0; shift <= 40; shift += 10) {
    is_power |= number << shift == bytes && number << shift >> shift == number;
  }
  require(is_power);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  for (const std::string& line : lines) check_bytes(line.c_str());
  for (size_t at = 0; at < std::size(kVariables); ++at) {
    hipfile::fuzz::set_variable(kVariables[at], lines, at);
  }
  const hip_portable::Settings settings = hip_portable::read_settings();
  require(settings.devices >= 1 && settings.devices <= 64);
  return 0;
}
