// SPDX-License-Identifier: MIT
// What a random program did last, and whether all was as its model says.
#pragma once

#include <hipfile.h>

#include <deque>
#include <string>

namespace hipfile::test {

class Journal {
 public:
  void begin_step(unsigned long step) { step_ = step; }
  [[gnu::format(printf, 2, 3)]] void note(const char* format, ...);

  // Each ends the run where it does not hold.
  void check(const std::string& difference, const char* what);
  void expect(ssize_t wanted, ssize_t got, int wanted_errno = 0);
  void expect_code(hipFileOpError_t wanted, hipFileError_t got);
  void fail(const char* why);

  bool has_failed() const { return has_failed_; }
  void print() const;

 private:
  std::deque<std::string> last_;
  unsigned long step_ = 0;
  bool has_failed_ = false;
};

}  // namespace hipfile::test
