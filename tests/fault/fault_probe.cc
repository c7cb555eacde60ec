// SPDX-License-Identifier: MIT
// A small program of the library for faults from outside: `fault_probe FROM TO [stream | batch]`
// reads FROM into device memory, and writes that to TO, by registered and unregistered memory, in
// odd sizes; by calls, in a stream, or in batches of four requests. It makes no system call to
// check what it did: it says the counts, and who started it looks.
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
#include <cstring>
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

enum class Way { kCall, kStream, kBatch };

struct Transfer {
  Way way = Way::kCall;
  hipStream_t stream = nullptr;
};

ssize_t in_stream(hipStream_t stream, bool is_read, hipFileHandle_t file, void* memory, size_t size,
                  hoff_t offset) {
  hoff_t shift = 0;
  ssize_t bytes = 0;
  const auto call = is_read ? &hipFileReadAsync : &hipFileWriteAsync;
  const hipFileError_t error = call(file, memory, &size, &offset, &shift, &bytes, stream);
  if (hipStreamSynchronize(stream) != hipSuccess) std::printf("stream WRONG\n");
  return error.err == hipFileSuccess ? bytes : -static_cast<ssize_t>(error.err);
}

// What counts is the prefix without a gap.
ssize_t in_batch(bool is_read, hipFileHandle_t file, void* memory, size_t size, hoff_t offset) {
  constexpr unsigned kParts = 4;
  hipFileIOParams_t requests[kParts] = {};
  const size_t part = size / kParts / 4096 * 4096;
  for (unsigned at = 0; at < kParts; ++at) {
    const auto begin = static_cast<int64_t>(at * part);
    requests[at].mode = hipFileBatch;
    requests[at].opcode = is_read ? hipFileBatchRead : hipFileBatchWrite;
    requests[at].fh = file;
    requests[at].cookie = &requests[at];
    requests[at].u.batch = {memory, offset + begin, begin,
                            at + 1 == kParts ? size - at * part : part};
  }
  hipFileBatchHandle_t batch = nullptr;
  hipFileIOEvents_t events[kParts] = {};
  unsigned count = kParts;
  hipFileError_t error = hipFileBatchIOSetUp(&batch, kParts);
  if (error.err == hipFileSuccess) error = hipFileBatchIOSubmit(batch, kParts, requests, 0);
  if (error.err == hipFileSuccess) {
    error = hipFileBatchIOGetStatus(batch, kParts, &count, events, nullptr);
  }
  hipFileBatchIODestroy(batch);
  if (error.err != hipFileSuccess) return -static_cast<ssize_t>(error.err);
  if (count != kParts) std::printf("%u events WRONG\n", count);
  ssize_t moved[kParts] = {};
  for (const hipFileIOEvents_t& event : events) {
    moved[static_cast<hipFileIOParams_t*>(event.cookie) - requests] =
        static_cast<ssize_t>(event.ret);
  }
  ssize_t sum = 0;
  for (unsigned at = 0; at < kParts; ++at) {
    sum += moved[at] > 0 ? moved[at] : 0;
    if (moved[at] < static_cast<ssize_t>(requests[at].u.batch.size)) break;
  }
  return sum;
}

ssize_t transfer(const Transfer& by, bool is_read, hipFileHandle_t file, void* memory, size_t size,
                 hoff_t offset) {
  if (by.way == Way::kStream) return in_stream(by.stream, is_read, file, memory, size, offset);
  if (by.way == Way::kBatch) return in_batch(is_read, file, memory, size, offset);
  return is_read ? hipFileRead(file, memory, size, offset, 0)
                 : hipFileWrite(file, memory, size, offset, 0);
}

void read_all(const Transfer& by, hipFileHandle_t file, void* memory,
              std::vector<unsigned char>& bytes) {
  for (const size_t size : {size_t{5000}, kSize}) {
    if (hipMemset(memory, 0, kSize) != hipSuccess) return;
    const ssize_t n = transfer(by, true, file, memory, size, kOffset);
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

void write_all(const Transfer& by, hipFileHandle_t file, void* memory,
               std::vector<unsigned char>& bytes) {
  hipfile::test::fill_pattern(bytes.data(), kSize, 2);
  if (hipMemcpy(memory, bytes.data(), kSize, hipMemcpyHostToDevice) != hipSuccess) return;
  const ssize_t large = transfer(by, false, file, memory, kSize, kOffset);
  std::printf("write %zd %d\n", large, static_cast<int>(kOffset));
  const ssize_t small = transfer(by, false, file, memory, 5000, 4 << 20);
  std::printf("write %zd %d\n", small, 4 << 20);
}

Way way_of(const char* name) {
  if (name == nullptr) return Way::kCall;
  return std::strcmp(name, "stream") == 0 ? Way::kStream : Way::kBatch;
}

int run(char** arguments) {
  Transfer by;
  by.way = way_of(arguments[3]);
  const int from = ::open(arguments[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
  const int to = ::open(arguments[2], O_RDWR | O_CLOEXEC);
  void* memory = nullptr;
  if (from < 0 || to < 0 || hipMalloc(&memory, kSize) != hipSuccess) return kNothingTried;
  if (by.way == Way::kStream && hipStreamCreate(&by.stream) != hipSuccess) return kNothingTried;
  std::vector<unsigned char> bytes(kSize);
  hipFileHandle_t source = register_file(from);
  hipFileHandle_t destination = register_file(to);
  read_all(by, source, memory, bytes);
  const hipFileError_t error = hipFileBufRegister(memory, kSize, 0);
  if (error.err != hipFileSuccess) std::printf("register buffer %d\n", error.err);
  write_all(by, destination, memory, bytes);
  (void)hipFileDriverClose().err;
  (void)hipFree(memory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (::write(STDOUT_FILENO, "begun\n", 6) != 6) return kNothingTried;
  try {
    return run(argv);
  } catch (const std::bad_alloc&) {
    return kNothingTried;
  }
}
