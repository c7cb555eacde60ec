// SPDX-License-Identifier: MIT
//
// iterative-devmem-offset-read INPUT OUTPUT [GPUID]: as iterative-read, but the address stays and
// the buffer offset advances. This is the form for a registered buffer, which is known by the
// address it was registered with: an address inside it counts as unregistered.
#include <algorithm>

#include "common.h"

using namespace example;

constexpr size_t kChunk = 256 << 10;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "INPUT OUTPUT [GPUID]");
  use_device(argv[3]);
  const size_t size = size_of_file(argv[1]);
  const size_t buffer_size = align_up(size + 1, kBlock);

  void* buffer = nullptr;
  check(hipMalloc(&buffer, buffer_size), "hipMalloc");
  check(hipFileBufRegister(buffer, buffer_size, 0), "hipFileBufRegister");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    size_t done = 0;
    while (done < size) {
      const auto offset = static_cast<hoff_t>(done);
      const size_t wanted = std::min(kChunk, size - done);
      const size_t count =
          check_count(hipFileRead(input.handle(), buffer, wanted, offset, offset), "hipFileRead");
      if (count == 0) fail(argv[1], "it became shorter");
      done += count;
    }
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    check_all(hipFileWrite(output.handle(), buffer, size, 0, 0), size, "hipFileWrite");
  }
  check(hipFileBufDeregister(buffer), "hipFileBufDeregister");
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
