// SPDX-License-Identifier: MIT
//
// What the program says on standard error, and how names are quoted there: as GNU cp does, so that
// a line can be pasted back into a shell.
#pragma once

#include <string>
#include <string_view>

namespace aiscp {

/// Success, or one line that says what failed. `error` is the errno behind it, or 0.
class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status failure(std::string text, int error = 0);
  /// "TEXT: STRERROR(error)"
  static Status of_errno(const std::string& text, int error);
  /// The user has sent a signal; nothing is to be said.
  static Status interrupted();

  bool ok() const { return state_ == State::kOk; }
  bool is_interrupted() const { return state_ == State::kInterrupted; }
  const std::string& text() const { return text_; }
  int error() const { return error_; }

 private:
  enum class State { kOk, kFailed, kInterrupted };
  State state_ = State::kOk;
  int error_ = 0;
  std::string text_;
};

/// 'name', with what a shell or a terminal would take amiss escaped.
std::string quote(std::string_view name);

/// "aiscp: TEXT" on standard error, in one piece.
void complain(const std::string& text);

/// Takes the numbers of standard streams that were closed when the program started, so that no file
/// of a copy gets one of them and is written into by a message. They are opened the wrong way
/// round: using one fails as on a closed descriptor. Called first.
void reserve_standard_streams();

/// A failed write to standard output is a failure of the program, told once at its end.
void say(const std::string& line);
bool close_output();

/// Progress is drawn on the line that the next message would continue; it is wiped first.
void mark_progress_line(bool is_there);

}  // namespace aiscp
