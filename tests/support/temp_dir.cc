// SPDX-License-Identifier: MIT
// Files of tests: every failure here ends the program with the path and the reason.
#include "temp_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace hipfile::test {
namespace {

[[noreturn]] void die(const char* what, const std::string& path) {
  std::fprintf(stderr, "test support: %s %s: %s\n", what, path.c_str(), std::strerror(errno));
  std::abort();
}

}  // namespace

std::string test_root() {
  for (const char* name : {"HIPFILE_TEST_DIR", "TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') return value;
  }
  return "/tmp";
}

TempDir::TempDir(const std::string& parent) : path_(parent + "/hipfile-test-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) die("mkdtemp", path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Fd::Fd(const std::string& path, int flags, mode_t mode)
    : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
  if (fd_ < 0) die("open", path);
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int direct_flag_of(const std::string& directory) {
  const std::string path = directory + "/direct-probe";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  ::unlink(path.c_str());
  return fd >= 0 ? O_DIRECT : 0;
}

void write_file(const std::string& path, const std::vector<uint8_t>& bytes) {
  Fd fd(path, O_WRONLY | O_CREAT | O_TRUNC);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n <= 0) die("write", path);
    done += static_cast<size_t>(n);
  }
}

std::vector<uint8_t> read_file(const std::string& path) {
  Fd fd(path, O_RDONLY);
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) die("fstat", path);
  std::vector<uint8_t> bytes(static_cast<size_t>(st.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0) die("read", path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

off_t file_size(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) die("stat", path);
  return st.st_size;
}

size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    (void)entry;
    ++count;
  }
  return count - 1;  // the one that read the directory
}

}  // namespace hipfile::test
