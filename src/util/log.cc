// SPDX-License-Identifier: MIT
//
// Level and text of a message; log_spdlog.cc or log_plain.cc writes it.
#include "util/log.h"

#include <strings.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "util/log_line.h"

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
  write_log_line(wanted, text);
  errno = saved_errno;
}

}  // namespace hipfile
