// SPDX-License-Identifier: MIT
//
// What every example needs and none is about: errors that end the program with a message, bytes to
// move, hashes to compare, and a file that is registered as long as it lives. An example may exit
// at any point: the library needs no closing.
#pragma once

#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace example {

constexpr size_t kBlock = 4096;  // direct I/O moves whole blocks

constexpr size_t align_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

[[noreturn]] void fail(const char* what, const char* why);
/// Says how the program is called. The exit status.
int usage(const char* program, const char* arguments);

/// End the program if a call failed.
void check(hipError_t error, const char* what);
void check(hipFileError_t error, const char* what);
/// The byte count of a read or write: result >= 0; else -1 with errno, or a negated hipFile code.
size_t check_count(ssize_t result, const char* what);
/// The same, and short of nothing.
void check_all(ssize_t result, size_t wanted, const char* what);

/// Makes the device of that number the current one. NULL: device 0.
void use_device(const char* number);
/// A number of an argument, in bytes or whatever. Ends the program if it is none.
size_t to_number(const char* text);

/// Bytes that repeat nowhere near.
std::vector<char> make_pattern(size_t size);
/// A new file of those bytes.
void make_pattern_file(const char* path, size_t size);

/// FNV-1a, 64 bits.
uint64_t hash(const std::vector<char>& bytes);
uint64_t hash_file(const char* path, size_t offset, size_t size);
size_t size_of_file(const char* path);

/// Prints OK if the hashes are equal. The exit status.
int report(uint64_t expected, uint64_t found);

/// An open file, known to hipFile.
class File {
 public:
  /// @param flags of open(2). Where a file system knows no O_DIRECT it is left out.
  File(const char* path, int flags);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  hipFileHandle_t handle() const { return handle_; }

 private:
  int fd_ = -1;
  hipFileHandle_t handle_ = nullptr;
};

}  // namespace example
