// SPDX-License-Identifier: MIT
//
// subregion-write INPUT OUTPUT [GPUID]: reads a file and writes the middle half of it. The buffer
// offset says where in the buffer a transfer begins; any offset and any size will do, and those
// that are multiples of the block can go past the page cache.
#include "common.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "INPUT OUTPUT [GPUID]");
  use_device(argv[3]);
  const size_t size = size_of_file(argv[1]);
  const size_t begin = size / 4;
  const size_t length = size / 2;

  void* buffer = nullptr;
  check(hipMalloc(&buffer, align_up(size + 1, kBlock)), "hipMalloc");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    check_all(hipFileRead(input.handle(), buffer, size, 0, 0), size, "hipFileRead");
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    check_all(hipFileWrite(output.handle(), buffer, length, 0, static_cast<hoff_t>(begin)), length,
              "hipFileWrite");
  }
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], begin, length), hash_file(argv[2], 0, length));
}
