// SPDX-License-Identifier: MIT
// What the fuzz targets share. A target is one function, LLVMFuzzerTestOneInput; libFuzzer calls it
// (`./x fuzz`), or replay.cc does, over the committed seeds and deterministic mutations of them.
// An input is text of lines, each of them one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace hipfile::fuzz {

// What must hold for every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::vector<std::string> lines_of(const uint8_t* data, size_t size) {
  std::vector<std::string> lines;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Sets a variable to a line, or removes it where there is none.
inline void set_variable(const char* name, const std::vector<std::string>& lines, size_t at) {
  if (at < lines.size()) {
    ::setenv(name, lines[at].c_str(), 1);
  } else {
    ::unsetenv(name);
  }
}

}  // namespace hipfile::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
