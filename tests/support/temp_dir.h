// SPDX-License-Identifier: MIT
// Directories and files that tests make and that are gone when the test ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hipfile::test {

// The directory in which tests keep their files: HIPFILE_TEST_DIR, else TMPDIR, else /tmp.
std::string test_root();

// A fresh directory below `parent`, removed with all it holds.
class TempDir {
 public:
  explicit TempDir(const std::string& parent = test_root());
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A descriptor that closes itself. Aborts the test program when the file cannot be opened: a test
// whose fixture fails has nothing to say.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const std::string& path, int flags, mode_t mode = 0644);
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;

  int get() const { return fd_; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// The flags of the tests' ordinary files: O_DIRECT is added where the file system takes it.
int direct_flag_of(const std::string& directory);

// Whole files, by ordinary system calls. They abort on failure.
void write_file(const std::string& path, const std::vector<uint8_t>& bytes);
std::vector<uint8_t> read_file(const std::string& path);
off_t file_size(const std::string& path);

// The number of descriptors that this process has open.
size_t open_descriptors();

}  // namespace hipfile::test
