// SPDX-License-Identifier: MIT
//
// roundtrip-async-multi-stream-registered READ_FILE WRITE_FILE [GPUID]: the streams are registered
// with all four flags: size and offsets are fixed by the call, and whole pages. So one set of
// variables serves all calls; only the byte counts must stay. The buffer is registered too.
#include "common.h"

using namespace example;

constexpr int kStreams = 4;
constexpr size_t kPart = 2 << 20;
constexpr unsigned kFixed = HIPFILE_STREAM_FIXED_BUF_OFFSET | HIPFILE_STREAM_FIXED_FILE_OFFSET |
                            HIPFILE_STREAM_FIXED_FILE_SIZE | HIPFILE_STREAM_PAGE_ALIGNED_INPUTS;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "READ_FILE WRITE_FILE [GPUID]");
  use_device(argv[3]);
  const size_t size = kStreams * kPart;
  make_pattern_file(argv[1], size);

  void* buffer = nullptr;
  check(hipMalloc(&buffer, size), "hipMalloc");
  check(hipFileBufRegister(buffer, size, 0), "hipFileBufRegister");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    hipStream_t streams[kStreams] = {};
    ssize_t read[kStreams] = {};
    ssize_t written[kStreams] = {};
    for (int at = 0; at < kStreams; ++at) {
      check(hipStreamCreateWithFlags(&streams[at], hipStreamNonBlocking), "hipStreamCreate");
      check(hipFileStreamRegister(streams[at], kFixed), "hipFileStreamRegister");
      size_t part = kPart;
      auto offset = static_cast<hoff_t>(at * kPart);  // gone after this turn
      check(
          hipFileReadAsync(input.handle(), buffer, &part, &offset, &offset, &read[at], streams[at]),
          "hipFileReadAsync");
      check(hipFileWriteAsync(output.handle(), buffer, &part, &offset, &offset, &written[at],
                              streams[at]),
            "hipFileWriteAsync");
    }
    for (int at = 0; at < kStreams; ++at) {
      check(hipStreamSynchronize(streams[at]), "hipStreamSynchronize");
      if (read[at] != static_cast<ssize_t>(kPart)) fail("read", "a failure, or too few bytes");
      if (written[at] != static_cast<ssize_t>(kPart)) fail("write", "a failure, or too few bytes");
      check(hipFileStreamDeregister(streams[at]), "hipFileStreamDeregister");
      check(hipStreamDestroy(streams[at]), "hipStreamDestroy");
    }
  }
  check(hipFileBufDeregister(buffer), "hipFileBufDeregister");
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
