// SPDX-License-Identifier: MIT
//
// iterative-read INPUT OUTPUT [GPUID]: reads a file in chunks, each at an address further on in the
// buffer, and writes it back in one call. A read may be short; 0 is the end of the file.
#include <algorithm>

#include "common.h"

using namespace example;

constexpr size_t kChunk = 256 << 10;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "INPUT OUTPUT [GPUID]");
  use_device(argv[3]);
  const size_t size = size_of_file(argv[1]);

  char* buffer = nullptr;
  check(hipMalloc(reinterpret_cast<void**>(&buffer), align_up(size + 1, kBlock)), "hipMalloc");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    size_t done = 0;
    while (done < size) {
      const size_t wanted = std::min(kChunk, size - done);
      const size_t count = check_count(
          hipFileRead(input.handle(), buffer + done, wanted, static_cast<hoff_t>(done), 0),
          "hipFileRead");
      if (count == 0) fail(argv[1], "it became shorter");
      done += count;
    }
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    check_all(hipFileWrite(output.handle(), buffer, size, 0, 0), size, "hipFileWrite");
  }
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
