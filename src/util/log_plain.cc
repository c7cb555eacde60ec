// SPDX-License-Identifier: MIT
//
// In the place of log_spdlog.cc where the library is built without spdlog. One write per line, so
// that lines of several threads do not mix.
#include <sys/syscall.h>
#include <time.h>
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

// "2026-12-02 18:17:05.123 1234 1240 ", or nothing.
void print_origin(char* text, size_t size) {
  timespec now = {};
  tm parts = {};
  *text = '\0';
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  if (localtime_r(&now.tv_sec, &parts) == nullptr) return;
  const size_t length = strftime(text, size, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + length, size - length, ".%03ld %d %ld ", now.tv_nsec / 1000000, getpid(),
                syscall(SYS_gettid));
}

}  // namespace

void write_log_line(int fd, LogLevel level, const char* text) {
  char origin[64] = "";
  if (fd != STDERR_FILENO) print_origin(origin, sizeof origin);
  char line[640];  // a message has at most 511 bytes
  const int size =
      std::snprintf(line, sizeof line, "%shipfile [%s] %s\n", origin, name_of(level), text);
  if (size > 0 && write(fd, line, static_cast<size_t>(size)) < 0) return;  // dropped
}

}  // namespace hipfile
