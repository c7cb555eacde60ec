// SPDX-License-Identifier: MIT
//
// Plain POSIX and C++; hipFile appears in class File and in the results only.
#include "common.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace example {

void fail(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

int usage(const char* program, const char* arguments) {
  std::fprintf(stderr, "Usage: %s %s\n", program, arguments);
  return 1;
}

void check(hipError_t error, const char* what) {
  if (error != hipSuccess) fail(what, hipGetErrorString(error));
}

void check(hipFileError_t error, const char* what) {
  if (IS_HIP_DRV_ERR(error)) check(HIP_DRV_ERR(error), what);
  if (error.err != hipFileSuccess) fail(what, HIPFILE_ERRSTR(error.err));
}

size_t check_count(ssize_t result, const char* what) {
  const int error = errno;
  if (result >= 0) return static_cast<size_t>(result);
  fail(what, IS_HIPFILE_ERR(result) ? HIPFILE_ERRSTR(result) : std::strerror(error));
}

void check_all(ssize_t result, size_t wanted, const char* what) {
  if (check_count(result, what) != wanted) fail(what, "fewer bytes than asked for");
}

void use_device(const char* number) {
  const size_t device = number == nullptr ? 0 : to_number(number);
  check(hipSetDevice(static_cast<int>(device)), "hipSetDevice");
}

size_t to_number(const char* text) {
  char* end = nullptr;
  errno = 0;
  const unsigned long number = std::strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0') fail(text, "not a number");
  return number;
}

std::vector<char> make_pattern(size_t size) {
  std::vector<char> bytes(size);
  uint64_t state = 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

void make_pattern_file(const char* path, size_t size) {
  const std::vector<char> bytes = make_pattern(size);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(size));
  file.close();
  if (!file) fail(path, "cannot be written");
}

uint64_t hash(const std::vector<char>& bytes) {
  uint64_t value = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return value;
}

uint64_t hash_file(const char* path, size_t offset, size_t size) {
  std::vector<char> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) fail(path, "cannot be read");
  return hash(bytes);
}

size_t size_of_file(const char* path) {
  struct stat status {};
  if (stat(path, &status) != 0) fail(path, std::strerror(errno));
  return static_cast<size_t>(status.st_size);
}

int report(uint64_t expected, uint64_t found) {
  const bool is_equal = expected == found;
  std::printf("%s %016llx %016llx\n", is_equal ? "OK" : "DIFFERENT",
              static_cast<unsigned long long>(expected), static_cast<unsigned long long>(found));
  return is_equal ? 0 : 1;
}

File::File(const char* path, int flags) {
  fd_ = open(path, flags | O_CLOEXEC, 0644);
  if (fd_ < 0 && errno == EINVAL) fd_ = open(path, (flags & ~O_DIRECT) | O_CLOEXEC, 0644);
  if (fd_ < 0) fail(path, std::strerror(errno));

  hipFileDescr_t description;
  std::memset(&description, 0, sizeof description);  // members to come must be zero
  description.type = hipFileHandleTypeOpaqueFD;
  description.handle.fd = fd_;
  check(hipFileHandleRegister(&handle_, &description), path);
}

File::~File() {
  hipFileHandleDeregister(handle_);
  if (close(fd_) != 0) fail("close", std::strerror(errno));
}

}  // namespace example
