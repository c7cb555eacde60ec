// SPDX-License-Identifier: MIT
//
// various-mem-rw INPUT OUTPUT MODE [GPUID]: copies a file through memory of a kind: 1 device,
// 2 managed, 3 pinned host. The calls are the same; the library sees what an address is. (AMD's
// library takes device memory only.)
#include <cstring>

#include "common.h"

using namespace example;

namespace {

void* allocate(char mode, size_t size) {
  void* buffer = nullptr;
  if (mode == '1') check(hipMalloc(&buffer, size), "hipMalloc");
  if (mode == '2') check(hipMallocManaged(&buffer, size, hipMemAttachGlobal), "hipMallocManaged");
  if (mode == '3') check(hipHostMalloc(&buffer, size, hipHostMallocDefault), "hipHostMalloc");
  return buffer;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_called_well = (argc == 4 || argc == 5) && std::strlen(argv[3]) == 1 &&
                              std::strchr("123", *argv[3]) != nullptr;
  if (!is_called_well) return usage(argv[0], "INPUT OUTPUT MODE [GPUID]");
  use_device(argv[4]);
  const char mode = *argv[3];
  const size_t size = size_of_file(argv[1]);

  void* buffer = allocate(mode, align_up(size + 1, kBlock));
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    check_all(hipFileRead(input.handle(), buffer, size, 0, 0), size, "hipFileRead");
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    check_all(hipFileWrite(output.handle(), buffer, size, 0, 0), size, "hipFileWrite");
  }
  check(mode == '3' ? hipHostFree(buffer) : hipFree(buffer), "free");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
