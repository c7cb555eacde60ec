// SPDX-License-Identifier: MIT
//
// Messages for people, to standard error or to a file. Off by default but for errors; the level
// comes from HIPFILE_LOGGING_LEVEL until set_log() says another. A message that cannot be written
// is dropped: logging never fails an I/O.
#pragma once

#include <atomic>
#include <optional>
#include <string>

namespace hipfile {

enum class LogLevel { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

/// off, error, warning (warn), info (notice), debug (trace), in any letter case; else nothing.
std::optional<LogLevel> parse_log_level(const char* text);

/// From now on messages up to `level` go to the end of `file`, or to standard error if it is empty.
/// A relative path is meant from the present working directory.
void set_log(LogLevel level, const std::string& file);

namespace log_state {
constexpr int kUnknown = -1;  ///< the environment was not looked at yet
extern std::atomic<int> level;
int read_level();
}  // namespace log_state

/// True if messages of a level are written: one load after the first call.
inline bool is_logged(LogLevel wanted) {
  int level = log_state::level.load(std::memory_order_relaxed);
  if (level == log_state::kUnknown) level = log_state::read_level();
  return static_cast<int>(wanted) <= level;
}

/// printf-style. Any thread. `errno` is left as it was.
[[gnu::format(printf, 2, 3)]] void log_message(LogLevel level, const char* format, ...);

/// One kind of message that may come with every request: it is let through once a second, with the
/// count of those that were held back. One object per reason, with static storage.
class LogLimit {
 public:
  /// True if the message may be written now; then `suppressed` is the count since the last one.
  bool admits(unsigned* suppressed);
  /// As above, at a time of a monotonic clock in seconds, never 0.
  bool admits_at(unsigned second, unsigned* suppressed);

 private:
  std::atomic<unsigned> second_{0};
  std::atomic<unsigned> suppressed_{0};
};

/// printf-style, at most once a second for each `limit`.
[[gnu::format(printf, 3, 4)]] void log_limited(LogLimit& limit, LogLevel level, const char* format,
                                               ...);

// The arguments are not evaluated when the level is off.
#define HIPFILE_LOG(level, ...)                                                  \
  do {                                                                           \
    if (::hipfile::is_logged(level)) ::hipfile::log_message(level, __VA_ARGS__); \
  } while (false)
#define log_error(...) HIPFILE_LOG(::hipfile::LogLevel::kError, __VA_ARGS__)
#define log_warning(...) HIPFILE_LOG(::hipfile::LogLevel::kWarning, __VA_ARGS__)
#define log_info(...) HIPFILE_LOG(::hipfile::LogLevel::kInfo, __VA_ARGS__)
#define log_debug(...) HIPFILE_LOG(::hipfile::LogLevel::kDebug, __VA_ARGS__)

}  // namespace hipfile
