// SPDX-License-Identifier: MIT
//
// roundtrip-async-nonblocking-stream READ_FILE WRITE_FILE [GPUID]: transfers between work of the
// program's own, in a stream that does not wait for the default one. The second half of the buffer
// is cleared after the read, and the write sees that: the stream keeps the order.
#include "common.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "READ_FILE WRITE_FILE [GPUID]");
  use_device(argv[3]);
  size_t size = 8 << 20;
  make_pattern_file(argv[1], size);

  hipStream_t stream = nullptr;
  char* buffer = nullptr;
  check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  check(hipMalloc(reinterpret_cast<void**>(&buffer), size), "hipMalloc");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);

    // All of these must live until the stream has passed the operations.
    hoff_t file_offset = 0;
    hoff_t buffer_offset = 0;
    ssize_t read = 0;
    ssize_t written = 0;
    check(hipFileReadAsync(input.handle(), buffer, &size, &file_offset, &buffer_offset, &read,
                           stream),
          "hipFileReadAsync");
    check(hipMemsetAsync(buffer + size / 2, 0, size - size / 2, stream), "hipMemsetAsync");
    check(hipFileWriteAsync(output.handle(), buffer, &size, &file_offset, &buffer_offset, &written,
                            stream),
          "hipFileWriteAsync");
    check(hipStreamSynchronize(stream), "hipStreamSynchronize");
    if (read != static_cast<ssize_t>(size)) fail("read", "a failure, or too few bytes");
    if (written != static_cast<ssize_t>(size)) fail("write", "a failure, or too few bytes");
  }
  check(hipFree(buffer), "hipFree");
  check(hipStreamDestroy(stream), "hipStreamDestroy");
  const std::vector<char> zeros(size - size / 2);
  if (hash(zeros) != hash_file(argv[2], size / 2, zeros.size())) fail(argv[2], "not cleared");
  return report(hash_file(argv[1], 0, size / 2), hash_file(argv[2], 0, size / 2));
}
