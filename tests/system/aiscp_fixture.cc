// SPDX-License-Identifier: MIT
#include "aiscp_fixture.h"

#include <dirent.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace hipfile::test {
namespace {

std::string root_of_tests() {
  const char* place = std::getenv("AISCP_TEST_DIR");
  return place != nullptr && *place != '\0' ? place : test_root();
}

}  // namespace

AiscpTest::AiscpTest() : dir_(root_of_tests()) { ::chmod(directory().c_str(), 0755); }

ProcessOptions AiscpTest::options() const {
  ProcessOptions options;
  options.directory = directory();
  options.environment = {"LC_ALL=C", std::string("AISCP=") + AISCP_BINARY, "POSIXLY_CORRECT"};
  return options;
}

ProcessResult AiscpTest::aiscp(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), AISCP_BINARY);
  return run_process(arguments, options());
}

ProcessResult AiscpTest::aiscp_as_nobody(std::vector<std::string> arguments) const {
  const std::vector<std::string> prefix = {"setpriv",       "--reuid=65534", "--regid=65534",
                                           "--clear-groups", AISCP_BINARY};
  arguments.insert(arguments.begin(), prefix.begin(), prefix.end());
  return run_process(arguments, options());
}

ProcessResult AiscpTest::shell(const std::string& command) const {
  return run_process({"bash", "-c", command}, options());
}

void AiscpTest::make(const std::string& name, size_t size, uint64_t seed) const {
  write_file(at(name), make_pattern(size, seed));
}

void AiscpTest::expect_content(const std::string& name, size_t size, uint64_t seed) const {
  EXPECT_EQ("", first_difference(read_file(at(name)), make_pattern(size, seed))) << name;
}

struct stat AiscpTest::status_of_path(const std::string& path) {
  struct stat st {};
  EXPECT_EQ(0, ::stat(path.c_str(), &st)) << path;
  return st;
}

std::vector<std::string> AiscpTest::names(const std::string& below) const {
  std::vector<std::string> found;
  DIR* list = ::opendir(at(below).c_str());
  if (list == nullptr) return found;
  while (const dirent* entry = ::readdir(list)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") found.push_back(name);
  }
  ::closedir(list);
  std::sort(found.begin(), found.end());
  return found;
}

bool AiscpTest::is_root() { return ::geteuid() == 0; }

bool AiscpTest::can_set_xattr() const {
  make("xattr-probe", 1);
  const bool can = ::setxattr(at("xattr-probe").c_str(), "user.probe", "1", 1, 0) == 0;
  ::unlink(at("xattr-probe").c_str());
  return can;
}

void expect_silent_success(const ProcessResult& result) {
  EXPECT_EQ(0, result.exit_code);
  EXPECT_EQ("", result.err);
  EXPECT_EQ("", result.out);
}

void expect_failure(const ProcessResult& result, const std::string& line, int status) {
  EXPECT_EQ(status, result.exit_code);
  EXPECT_EQ(line + "\n", result.err);
}

}  // namespace hipfile::test
