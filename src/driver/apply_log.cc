// SPDX-License-Identifier: MIT
//
// Three parameters become a level and a path.
#include "driver/apply_log.h"

#include <hipfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

namespace hipfile {
namespace {

bool is_directory(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

bool apply_log(const Settings& settings) {
  const std::string& directory = settings.text(hipFileParamLogDir);
  const bool is_usable = directory.empty() || is_directory(directory);
  std::string file = settings.text(hipFileParamEnvLogfilePath);
  if (file.empty() && is_usable && !directory.empty()) {
    file = directory + "/hipfile_" + std::to_string(getpid()) + ".log";
  }
  const std::string& level = settings.text(hipFileParamLoggingLevel);
  set_log(parse_log_level(level.c_str()).value_or(LogLevel::kError), file);
  if (!is_usable)
    log_error("log directory '%s' is no directory, and is ignored", directory.c_str());
  return is_usable;
}

}  // namespace hipfile
