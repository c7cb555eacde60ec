// SPDX-License-Identifier: MIT
//
// no-odirect-write OUTPUT [GPUID]: the descriptor was opened without O_DIRECT. Nothing else
// changes: where it can, the library opens a direct view of the file for itself.
#include "common.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return usage(argv[0], "OUTPUT [GPUID]");
  use_device(argv[2]);
  const std::vector<char> bytes = make_pattern(1 << 20);

  void* buffer = nullptr;
  check(hipMalloc(&buffer, bytes.size()), "hipMalloc");
  check(hipMemcpy(buffer, bytes.data(), bytes.size(), hipMemcpyHostToDevice), "hipMemcpy");
  {
    const File output(argv[1], O_WRONLY | O_CREAT | O_TRUNC);
    check_all(hipFileWrite(output.handle(), buffer, bytes.size(), 0, 0), bytes.size(),
              "hipFileWrite");
  }
  check(hipFree(buffer), "hipFree");
  return report(hash(bytes), hash_file(argv[1], 0, bytes.size()));
}
