// SPDX-License-Identifier: MIT
#include "journal.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace hipfile::test {
namespace {

constexpr size_t kRemembered = 30;  // notes

}  // namespace

void Journal::note(const char* format, ...) {
  char text[250];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last_.push_back(std::to_string(step_) + ": " + text);
  if (last_.size() > kRemembered) last_.pop_front();
}

void Journal::check(const std::string& difference, const char* what) {
  if (difference.empty()) return;
  note("%s: %s", what, difference.c_str());
  has_failed_ = true;
}

void Journal::expect(ssize_t wanted, ssize_t got, int wanted_errno) {
  const int error = errno;
  if (wanted == got && (wanted != -1 || error == wanted_errno)) return;
  note("... gave %zd (errno %d), the model %zd (errno %d)", got, error, wanted, wanted_errno);
  has_failed_ = true;
}

void Journal::expect_code(hipFileOpError_t wanted, hipFileError_t got) {
  expect(static_cast<ssize_t>(wanted), static_cast<ssize_t>(got.err));
}

void Journal::fail(const char* why) {
  note("%s", why);
  has_failed_ = true;
}

void Journal::print() const {
  for (const std::string& line : last_) std::printf("  %s\n", line.c_str());
}

}  // namespace hipfile::test
