// SPDX-License-Identifier: MIT
// hipfile.json: whatever stands in it, every parameter keeps a value that fits, and what was wrong
// is said with a line of the file.
#include <algorithm>

#include "driver/config_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  hipfile::Settings settings;
  std::vector<std::string> problems;
  hipfile::apply_json(text, "f", settings, problems);
  for (int index = 0; index < static_cast<int>(hipfile::kParameterCount); ++index) {
    const hipfile::Parameter& parameter = hipfile::parameters()[static_cast<size_t>(index)];
    hipfile::fuzz::require(hipfile::why_unfit(parameter, settings.at(index)).empty());
  }
  const size_t last = 1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  for (const std::string& problem : problems) {
    hipfile::fuzz::require(problem.rfind("f:", 0) == 0);
    const size_t line = std::strtoul(problem.c_str() + 2, nullptr, 10);
    hipfile::fuzz::require(line <= last);
  }
  return 0;
}
