// SPDX-License-Identifier: MIT
//
// roundtrip-async-multi-stream READ_FILE WRITE_FILE [GPUID]: one part of the file to each of
// several streams, which run side by side. Each operation has values of its own, since they are
// read when the stream gets there.
#include "common.h"

using namespace example;

constexpr int kStreams = 4;
constexpr size_t kPart = 2 << 20;

// What one stream works with, alive until it has passed.
struct Part {
  hipStream_t stream = nullptr;
  size_t size = kPart;
  hoff_t offset = 0;  // in the file and in the buffer
  ssize_t read = 0;
  ssize_t written = 0;
};

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "READ_FILE WRITE_FILE [GPUID]");
  use_device(argv[3]);
  const size_t size = kStreams * kPart;
  make_pattern_file(argv[1], size);

  void* buffer = nullptr;
  check(hipMalloc(&buffer, size), "hipMalloc");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    Part parts[kStreams];
    for (int at = 0; at < kStreams; ++at) {
      Part& part = parts[at];
      part.offset = static_cast<hoff_t>(at * kPart);
      check(hipStreamCreateWithFlags(&part.stream, hipStreamNonBlocking), "hipStreamCreate");
      check(hipFileReadAsync(input.handle(), buffer, &part.size, &part.offset, &part.offset,
                             &part.read, part.stream),
            "hipFileReadAsync");
      check(hipFileWriteAsync(output.handle(), buffer, &part.size, &part.offset, &part.offset,
                              &part.written, part.stream),
            "hipFileWriteAsync");
    }
    for (const Part& part : parts) {
      check(hipStreamSynchronize(part.stream), "hipStreamSynchronize");
      if (part.read != static_cast<ssize_t>(kPart)) fail("read", "a failure, or too few bytes");
      if (part.written != static_cast<ssize_t>(kPart)) fail("write", "a failure, or too few bytes");
      check(hipStreamDestroy(part.stream), "hipStreamDestroy");
    }
  }
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
