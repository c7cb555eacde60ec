// SPDX-License-Identifier: MIT
//
// Level, target and text of a message. A log file is opened for each line: lines are few, and so no
// descriptor of ours is in the way of a program that closes all it finds, forks, or moves the file.
#include "util/log.h"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "util/log_line.h"
#include "util/unique_fd.h"

namespace hipfile {
namespace {

constexpr size_t kMaxText = 512;

// The file that takes the lines; NULL: standard error.
std::atomic<const std::string*> g_file{nullptr};

// Paths are kept for good, each once: a thread may still be writing to the one before. Without a
// lock, which a child of fork might find taken for ever.
struct KeptPath {
  std::string path;
  KeptPath* next = nullptr;
};
std::atomic<KeptPath*> g_paths{nullptr};

const std::string* kept_path(const std::string& path) {
  for (const KeptPath* at = g_paths.load(std::memory_order_acquire); at != nullptr; at = at->next) {
    if (at->path == path) return &at->path;
  }
  auto* fresh = new KeptPath{path, g_paths.load(std::memory_order_relaxed)};
  while (!g_paths.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {
  }
  return &fresh->path;
}

std::string absolute(const std::string& path) {
  char folder[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

void write_to_file(const std::string& path, LogLevel level, const char* text) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const UniqueFd fd(open(path.c_str(), flags, 0644));
  if (fd.get() >= 0) write_log_line(fd.get(), level, text);
}

void write_message(LogLevel level, const char* text) {
  const int saved_errno = errno;
  const std::string* file = g_file.load(std::memory_order_acquire);
  if (file == nullptr) {
    write_log_line(STDERR_FILENO, level, text);
  } else {
    write_to_file(*file, level, text);
  }
  errno = saved_errno;
}

}  // namespace

namespace log_state {

std::atomic<int> level{kUnknown};

int read_level() {
  const char* text = std::getenv("HIPFILE_LOGGING_LEVEL");
  const std::optional<LogLevel> wish = text == nullptr ? std::nullopt : parse_log_level(text);
  int unknown = kUnknown;
  level.compare_exchange_strong(unknown, static_cast<int>(wish.value_or(LogLevel::kError)));
  return level.load(std::memory_order_relaxed);
}

}  // namespace log_state

std::optional<LogLevel> parse_log_level(const char* text) {
  constexpr struct {
    const char* name;
    LogLevel level;
  } kNames[] = {
      {"off", LogLevel::kOff},      {"error", LogLevel::kError}, {"warning", LogLevel::kWarning},
      {"warn", LogLevel::kWarning}, {"info", LogLevel::kInfo},   {"notice", LogLevel::kInfo},
      {"debug", LogLevel::kDebug},  {"trace", LogLevel::kDebug},
  };
  for (const auto& known : kNames) {
    if (strcasecmp(text, known.name) == 0) return known.level;
  }
  return std::nullopt;
}

void set_log(LogLevel level, const std::string& file) {
  g_file.store(file.empty() ? nullptr : kept_path(absolute(file)), std::memory_order_release);
  log_state::level.store(static_cast<int>(level), std::memory_order_relaxed);
}

void log_message(LogLevel wanted, const char* format, ...) {
  if (!is_logged(wanted)) return;
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  write_message(wanted, text);
}

void log_limited(LogLimit& limit, LogLevel wanted, const char* format, ...) {
  unsigned suppressed = 0;
  if (!is_logged(wanted) || !limit.admits(&suppressed)) return;
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text - 64, format, arguments);
  va_end(arguments);
  if (suppressed != 0 && length >= 0) {
    const size_t at = std::min(static_cast<size_t>(length), sizeof text - 65);
    std::snprintf(text + at, sizeof text - at, " (%u more like this)", suppressed);
  }
  write_message(wanted, text);
}

}  // namespace hipfile
