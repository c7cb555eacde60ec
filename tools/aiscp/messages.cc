// SPDX-License-Identifier: MIT
//
// Messages go out by one write each, so lines of several programs do not mix.
#include "messages.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <cwctype>

namespace aiscp {
namespace {

std::atomic<bool> progress_is_there{false};

void write_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody is left to be told
    done += static_cast<size_t>(n);
  }
}

/// The letter after a backslash for a control character, or 0.
char escape_letter(unsigned char c) {
  switch (c) {
    case '\a': return 'a';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '\v': return 'v';
    default: return 0;
  }
}

/// The length of the printable character at the front of `rest`, or 0.
size_t printable_length(std::string_view rest) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const size_t length = std::mbrtowc(&wide, rest.data(), rest.size(), &state);
  if (length == 0 || length > rest.size() || std::iswprint(static_cast<wint_t>(wide)) == 0) {
    return 0;
  }
  return length;
}

/// True when double quotes are enough for a name with a single quote in it.
bool is_safe_in_double_quotes(std::string_view name) {
  for (size_t i = 0; i < name.size();) {
    const char c = name[i];
    if (std::strchr("!\"$&()*;<=>?[\\^`|", c) != nullptr) return false;
    if ((c == '#' || c == '~') && i != 0) return false;
    if ((c == '{' || c == '}') && name.size() != 1) return false;
    const size_t length = printable_length(name.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void append_escaped(unsigned char c, std::string* out) {
  out->push_back('\\');
  if (const char letter = escape_letter(c)) {
    out->push_back(letter);
    return;
  }
  out->push_back(static_cast<char>('0' + (c >> 6)));
  out->push_back(static_cast<char>('0' + ((c >> 3) & 7)));
  out->push_back(static_cast<char>('0' + (c & 7)));
}

}  // namespace

Status Status::failure(std::string text, int error) {
  Status status;
  status.state_ = State::kFailed;
  status.text_ = std::move(text);
  status.error_ = error;
  return status;
}

Status Status::of_errno(const std::string& text, int error) {
  return failure(text + ": " + std::strerror(error), error);
}

Status Status::interrupted() {
  Status status;
  status.state_ = State::kInterrupted;
  return status;
}

std::string quote(std::string_view name) {
  if (name.find('\'') != std::string_view::npos && is_safe_in_double_quotes(name)) {
    return "\"" + std::string(name) + "\"";
  }
  std::string out = "'";
  bool is_in_dollar = false;  // inside $'...', where escapes count
  for (size_t i = 0; i < name.size();) {
    const size_t length = printable_length(name.substr(i));
    if (length == 0) {
      if (!is_in_dollar) out += "'$'";
      is_in_dollar = true;
      append_escaped(static_cast<unsigned char>(name[i]), &out);
      ++i;
      continue;
    }
    if (name[i] == '\'') {
      out += "'\\''";
      is_in_dollar = false;
    } else {
      if (is_in_dollar) out += "''";
      is_in_dollar = false;
      out.append(name.substr(i, length));
    }
    i += length;
  }
  return out + "'";
}

void complain(const std::string& text) {
  std::string line;
  if (progress_is_there.exchange(false)) line = "\r\033[K";
  write_all(STDERR_FILENO, line + "aiscp: " + text + "\n");
}

void say(const std::string& line) {
  if (progress_is_there.exchange(false)) write_all(STDERR_FILENO, "\r\033[K");
  std::fputs((line + "\n").c_str(), stdout);
}

bool close_output() {
  const bool failed = std::ferror(stdout) != 0;
  return std::fclose(stdout) == 0 && !failed;
}

void reserve_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void mark_progress_line(bool is_there) { progress_is_there = is_there; }

}  // namespace aiscp
