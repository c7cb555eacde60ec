// SPDX-License-Identifier: MIT
#include "progress.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "messages.h"

namespace aiscp {
namespace {

constexpr std::chrono::milliseconds kInterval{200};
constexpr double kFirstSecond = 1.0;  // short copies need no line

bool is_wanted(const Options& options) {
  if (options.progress == When::kAuto) return ::isatty(STDERR_FILENO) == 1;
  return options.progress == When::kAlways;
}

std::string format_time(double seconds) {
  char text[32];
  const unsigned long whole = static_cast<unsigned long>(seconds + 0.5);
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lu:%02lu", whole / 60, whole % 60);
  }
  return text;
}

}  // namespace

std::string format_bytes(double bytes) {
  static const char* const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < sizeof kUnits / sizeof kUnits[0]) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

Progress::Progress(const Options& options, size_t files)
    : is_wanted_(is_wanted(options)), files_(files) {}

double Progress::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Progress::begin_file(uint64_t expected) {
  expected_ = expected;
  bytes_before_ = counters_.bytes;
}

void Progress::draw() {
  const Clock::time_point now = Clock::now();
  const double seconds = elapsed();
  if (!is_wanted_ || seconds < kFirstSecond || now - last_drawn_ < kInterval) return;
  last_drawn_ = now;
  const uint64_t bytes = counters_.bytes;
  const double rate = static_cast<double>(bytes) / seconds;
  std::string line = format_bytes(static_cast<double>(bytes));
  const uint64_t done = bytes - bytes_before_;
  if (expected_ != 0) line += " of " + format_bytes(static_cast<double>(bytes_before_ + expected_));
  line += ", " + format_bytes(rate) + "/s";
  if (expected_ > done && rate > 0) {
    line += ", " + format_time(static_cast<double>(expected_ - done) / rate) + " left";
  }
  if (files_ > 1) {
    line += ", " + std::to_string(counters_.files) + " of " + std::to_string(files_) + " files";
  }
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  mark_progress_line(true);
}

void Progress::end() {
  if (last_drawn_ == Clock::time_point{}) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  mark_progress_line(false);
}

std::string Progress::summary(const std::string& device, const std::string& paths) const {
  const double seconds = elapsed();
  const double bytes = static_cast<double>(counters_.bytes);
  char line[160];
  std::snprintf(line, sizeof line,
                "%" PRIu64 " files, %" PRIu64 " bytes, %" PRIu64 " chunks, %.3f s, %s/s",
                counters_.files, counters_.bytes.load(), counters_.chunks.load(), seconds,
                format_bytes(seconds > 0 ? bytes / seconds : 0).c_str());
  return std::string(line) + "\ndevice: " + device + "\n" + paths;
}

}  // namespace aiscp
