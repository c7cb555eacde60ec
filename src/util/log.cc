// SPDX-License-Identifier: MIT
//
// The one file that includes spdlog. It is used header-only, with one leaked logger and no
// registry: Debian's shared library has a static destructor, which must not run under a library
// that is called from exit handlers.
#include "util/log.h"

#include <spdlog/common.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <strings.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace hipfile {
namespace {

LogLevel level_from_environment() {
  const char* text = std::getenv("HIPFILE_LOGGING_LEVEL");
  if (text == nullptr) return LogLevel::kError;
  if (strcasecmp(text, "off") == 0) return LogLevel::kOff;
  if (strcasecmp(text, "warning") == 0 || strcasecmp(text, "warn") == 0) return LogLevel::kWarning;
  if (strcasecmp(text, "info") == 0) return LogLevel::kInfo;
  if (strcasecmp(text, "debug") == 0 || strcasecmp(text, "trace") == 0) return LogLevel::kDebug;
  return LogLevel::kError;
}

LogLevel level() {
  static const LogLevel value = level_from_environment();
  return value;
}

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

spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("hipfile", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(to_spdlog(level()));
    made->set_pattern("hipfile [%l] %v");
    return made;
  }();
  return *instance;
}

}  // namespace

bool is_logged(LogLevel wanted) { return wanted <= level(); }

void log_message(LogLevel wanted, const char* format, ...) {
  if (!is_logged(wanted)) return;
  const int saved_errno = errno;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  try {
    logger().log(to_spdlog(wanted), std::string_view(text));
  } catch (...) {  // a full disk behind standard error, exhausted memory
  }
  errno = saved_errno;
}

}  // namespace hipfile
