// SPDX-License-Identifier: MIT
//
// The one file that includes spdlog. It is used header-only, with one leaked logger and no
// registry: Debian's shared library has a static destructor, which must not run under a library
// that is called from exit handlers.
#include <spdlog/common.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <string_view>

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

spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("hipfile", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);  // log.cc has chosen
    made->set_pattern("hipfile [%l] %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void write_log_line(LogLevel level, const char* text) {
  try {
    logger().log(to_spdlog(level), std::string_view(text));
  } catch (...) {  // a full disk behind standard error, exhausted memory
  }
}

}  // namespace hipfile
