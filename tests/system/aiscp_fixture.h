// SPDX-License-Identifier: MIT
// What the tests of the copy tool share: the program, run in a directory of its own. Test files lie
// below AISCP_TEST_DIR, else where all tests keep theirs, so the same program runs on any file
// system.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "pattern.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile::test {

class AiscpTest : public testing::Test {
 protected:
  AiscpTest();

  /// Paths below the test's directory.
  std::string at(const std::string& name) const { return dir_.file(name); }
  const std::string& directory() const { return dir_.path(); }

  /// How programs are run there: names may be relative, the locale is C.
  ProcessOptions options() const;
  /// Runs aiscp there.
  ProcessResult aiscp(std::vector<std::string> arguments) const;
  /// The same as a user without privileges.
  ProcessResult aiscp_as_nobody(std::vector<std::string> arguments) const;
  /// Runs a shell command there; $AISCP is the program.
  ProcessResult shell(const std::string& command) const;

  void make(const std::string& name, size_t size, uint64_t seed = 1) const;
  /// The file holds pattern `seed`, `size` bytes of it.
  void expect_content(const std::string& name, size_t size, uint64_t seed = 1) const;
  struct stat status_of(const std::string& name) const { return status_of_path(at(name)); }
  mode_t mode_of(const std::string& name) const { return status_of(name).st_mode & 07777; }

  static struct stat status_of_path(const std::string& path);

  /// All names in the directory, or in one below it, hidden ones too, sorted.
  std::vector<std::string> names(const std::string& below = ".") const;

  static bool is_root();
  /// True where the test's file system takes the attributes of ordinary local ones.
  bool can_set_xattr() const;

 private:
  TempDir dir_;
};

/// Succeeded and said nothing.
void expect_silent_success(const ProcessResult& result);
/// Failed with `status` and this one line on standard error.
void expect_failure(const ProcessResult& result, const std::string& line, int status = 1);

}  // namespace hipfile::test
