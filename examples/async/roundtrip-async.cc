// SPDX-License-Identifier: MIT
//
// roundtrip-async READ_FILE WRITE_FILE [GPUID]: a read and a write, queued in the default stream.
// The write begins when the read has ended, because they are in one stream; both calls return at
// once. READ_FILE is made here.
#include "common.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "READ_FILE WRITE_FILE [GPUID]");
  use_device(argv[3]);
  size_t size = 8 << 20;
  make_pattern_file(argv[1], size);

  void* buffer = nullptr;
  check(hipMalloc(&buffer, size), "hipMalloc");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);

    // All of these must live until the stream has passed the operations.
    hoff_t file_offset = 0;
    hoff_t buffer_offset = 0;
    ssize_t read = 0;
    ssize_t written = 0;
    check(hipFileReadAsync(input.handle(), buffer, &size, &file_offset, &buffer_offset, &read,
                           nullptr),
          "hipFileReadAsync");
    check(hipFileWriteAsync(output.handle(), buffer, &size, &file_offset, &buffer_offset, &written,
                            nullptr),
          "hipFileWriteAsync");
    check(hipStreamSynchronize(nullptr), "hipStreamSynchronize");
    if (read != static_cast<ssize_t>(size)) fail("read", "a failure, or too few bytes");
    if (written != static_cast<ssize_t>(size)) fail("write", "a failure, or too few bytes");
  }
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
