// SPDX-License-Identifier: MIT
// A small program of the library for faults from outside: `fault_probe FROM TO` reads FROM into
// device memory, and writes that to TO, by registered and unregistered memory, in odd sizes. It
// makes no system call to check what it did: it says the counts, and who started it looks.
//
//   begun                      at once; without it the dynamic loader failed
//   read COUNT right|WRONG     the bytes that the count promises are in memory, or not
//   write COUNT OFFSET         that much of pattern 2 was written at OFFSET
//
// Exit status: 0 all was tried, whatever failed; 4 what the program itself needs was not to be had.
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <vector>

#include "pattern.h"

namespace {

constexpr size_t kSize = (5 << 18) + 77;
constexpr hoff_t kOffset = 123;
constexpr int kNothingTried = 4;

hipFileHandle_t register_file(int fd) {
  hipFileDescr_t descr{};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  hipFileHandle_t handle = nullptr;
  const hipFileError_t error = hipFileHandleRegister(&handle, &descr);
  if (error.err != hipFileSuccess) std::printf("register %d\n", error.err);
  return handle;
}

void read_all(hipFileHandle_t file, void* memory, std::vector<unsigned char>& bytes) {
  for (const size_t size : {size_t{5000}, kSize}) {
    if (hipMemset(memory, 0, kSize) != hipSuccess) return;
    const ssize_t n = hipFileRead(file, memory, size, kOffset, 0);
    bool is_right = true;
    if (n > 0) {
      if (hipMemcpy(bytes.data(), memory, kSize, hipMemcpyDeviceToHost) != hipSuccess) return;
      for (size_t at = 0; at < static_cast<size_t>(n); ++at) {
        is_right &= bytes[at] == hipfile::test::pattern_byte(1, kOffset + at);
      }
    }
    std::printf("read %zd %s\n", n, is_right ? "right" : "WRONG");
  }
}

void write_all(hipFileHandle_t file, void* memory, std::vector<unsigned char>& bytes) {
  hipfile::test::fill_pattern(bytes.data(), kSize, 2);
  if (hipMemcpy(memory, bytes.data(), kSize, hipMemcpyHostToDevice) != hipSuccess) return;
  const ssize_t large = hipFileWrite(file, memory, kSize, kOffset, 0);
  std::printf("write %zd %d\n", large, static_cast<int>(kOffset));
  const ssize_t small = hipFileWrite(file, memory, 5000, 4 << 20, 0);
  std::printf("write %zd %d\n", small, 4 << 20);
}

int run(char** arguments) {
  const int from = ::open(arguments[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
  const int to = ::open(arguments[2], O_RDWR | O_CLOEXEC);
  void* memory = nullptr;
  if (from < 0 || to < 0 || hipMalloc(&memory, kSize) != hipSuccess) return kNothingTried;
  std::vector<unsigned char> bytes(kSize);
  hipFileHandle_t source = register_file(from);
  hipFileHandle_t destination = register_file(to);
  read_all(source, memory, bytes);
  const hipFileError_t error = hipFileBufRegister(memory, kSize, 0);
  if (error.err != hipFileSuccess) std::printf("register buffer %d\n", error.err);
  write_all(destination, memory, bytes);
  (void)hipFileDriverClose().err;
  (void)hipFree(memory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (::write(STDOUT_FILENO, "begun\n", 6) != 6) return kNothingTried;
  try {
    return run(argv);
  } catch (const std::bad_alloc&) {
    return kNothingTried;
  }
}
