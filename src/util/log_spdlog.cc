// SPDX-License-Identifier: MIT
//
// The one file that includes spdlog, header-only, and for its formatter alone: a registry, or a
// logger with a lock, would not outlive fork and exit handlers.
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>

#include "util/log_line.h"

namespace hipfile {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

// One write per line, so that lines of several threads do not mix. A formatter for each line: it
// has a state, which would need a lock.
void write_log_line(int fd, LogLevel level, const char* text) {
  const bool is_file = fd != STDERR_FILENO;
  try {
    spdlog::pattern_formatter formatter(is_file ? "%Y-%m-%d %H:%M:%S.%e %P %t hipfile [%l] %v"
                                                : "hipfile [%l] %v");
    spdlog::memory_buf_t line;
    formatter.format(spdlog::details::log_msg("hipfile", to_spdlog(level), text), line);
    if (write(fd, line.data(), line.size()) < 0) return;  // dropped
  } catch (...) {                                         // exhausted memory
  }
}

}  // namespace hipfile
