// SPDX-License-Identifier: MIT
//
// In the place of log_spdlog.cc where the library is built without spdlog. One write per line, so
// that lines of several threads do not mix.
#include <unistd.h>

#include <cstdio>

#include "util/log_line.h"

namespace hipfile {
namespace {

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kOff:
      break;
  }
  return "off";
}

}  // namespace

void write_log_line(LogLevel level, const char* text) {
  char line[600];  // a message has at most 511 bytes
  const int size = std::snprintf(line, sizeof line, "hipfile [%s] %s\n", name_of(level), text);
  if (size > 0 && write(STDERR_FILENO, line, static_cast<size_t>(size)) < 0) return;  // dropped
}

}  // namespace hipfile
