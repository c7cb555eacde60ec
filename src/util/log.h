// SPDX-License-Identifier: MIT
//
// Messages for people, to standard error. Off by default but for errors; the level comes from
// HIPFILE_LOGGING_LEVEL (error, warning, info, debug, off). A message that cannot be written is
// dropped: logging never fails an I/O.
#pragma once

namespace hipfile {

enum class LogLevel { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

/// True if messages of a level are written: one load after the first call.
bool is_logged(LogLevel level);

/// printf-style. Any thread. `errno` is left as it was.
[[gnu::format(printf, 2, 3)]] void log_message(LogLevel level, const char* format, ...);

#define log_error(...) ::hipfile::log_message(::hipfile::LogLevel::kError, __VA_ARGS__)
#define log_warning(...) ::hipfile::log_message(::hipfile::LogLevel::kWarning, __VA_ARGS__)
#define log_info(...)                                                  \
  do {                                                                 \
    if (::hipfile::is_logged(::hipfile::LogLevel::kInfo))              \
      ::hipfile::log_message(::hipfile::LogLevel::kInfo, __VA_ARGS__); \
  } while (false)

}  // namespace hipfile
