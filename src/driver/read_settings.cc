// SPDX-License-Identifier: MIT
//
// Reads HIPFILE_ENV_PATH_JSON or /etc/hipfile.json, then HIPFILE_* (specification 4.7).
#include "driver/read_settings.h"

#include <fcntl.h>
#include <hipfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "driver/apply_log.h"
#include "driver/config_file.h"
#include "util/env.h"
#include "util/log.h"
#include "util/unique_fd.h"

namespace hipfile {
namespace {

constexpr const char* kSystemFile = "/etc/hipfile.json";
constexpr size_t kLargestFile = 1 << 20;

using Problems = std::vector<std::string>;

// 0 and the text, or an errno. Only a regular file: a FIFO would block for ever.
int read_text(const std::string& path, std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return errno;
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  char part[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    text.append(part, static_cast<size_t>(got));
    if (text.size() > kLargestFile) return EFBIG;
  }
}

void apply_file(Settings& settings, Problems& problems) {
  const char* named = std::getenv("HIPFILE_ENV_PATH_JSON");
  if (named != nullptr && *named == '\0') return;
  const std::string path = named != nullptr ? named : kSystemFile;
  std::string text;
  const int error = read_text(path, text);
  if (error == ENOENT && named == nullptr) return;
  if (error != 0) {
    problems.push_back(path + " cannot be read (" + std::strerror(error) + ") and is ignored");
  } else {
    apply_json(text, path, settings, problems);
  }
}

std::optional<Value> parse(const Parameter& parameter, const char* text) {
  switch (parameter.kind) {
    case ParameterKind::kSize:
      if (const std::optional<size_t> number = parse_size(text)) {
        return parameter.is_clamped ? std::min(*number, parameter.most) : *number;
      }
      return std::nullopt;
    case ParameterKind::kBool:
      if (const std::optional<bool> truth = parse_bool(text)) return *truth;
      return std::nullopt;
    case ParameterKind::kString:
      break;
  }
  return std::string(text);
}

void apply_environment(Settings& settings, Problems& problems) {
  for (size_t at = 0; at < kParameterCount; ++at) {
    const Parameter& parameter = parameters()[at];
    const char* text = std::getenv(parameter.variable);
    if (text == nullptr) continue;
    const std::optional<Value> value = parse(parameter, text);
    // Where nothing could be parsed, any value of another type says what is wanted.
    const bool is_bool = parameter.kind == ParameterKind::kBool;
    const Value other = is_bool ? Value(std::string()) : Value(false);
    const std::string why = why_unfit(parameter, value.value_or(other));
    if (why.empty()) {
      settings.set(static_cast<int>(at), *value);
    } else {
      problems.push_back(std::string(parameter.variable) + "='" + text + "' " + why + "; ignored");
    }
  }
}

}  // namespace

Settings read_settings() {
  Settings settings;
  Problems problems;
  apply_file(settings, problems);
  apply_environment(settings, problems);
  if (!apply_log(settings)) {
    settings.set(find_parameter(ParameterKind::kString, hipFileParamLogDir), std::string());
  }
  for (const std::string& problem : problems) log_error("%s", problem.c_str());
  return settings;
}

}  // namespace hipfile
