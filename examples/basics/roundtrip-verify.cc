// SPDX-License-Identifier: MIT
//
// roundtrip-verify CREATED COPIED [GPUID]: a pattern goes out to CREATED, in again to another
// buffer, and out to COPIED. One descriptor both writes and reads.
#include "common.h"

using namespace example;

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return usage(argv[0], "CREATED COPIED [GPUID]");
  use_device(argv[3]);
  const std::vector<char> bytes = make_pattern(4 << 20);
  const size_t size = bytes.size();

  void* from = nullptr;
  void* to = nullptr;
  check(hipMalloc(&from, size), "hipMalloc");
  check(hipMalloc(&to, size), "hipMalloc");
  check(hipMemcpy(from, bytes.data(), size, hipMemcpyHostToDevice), "hipMemcpy");
  {
    const File created(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_DIRECT);
    const File copied(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    check_all(hipFileWrite(created.handle(), from, size, 0, 0), size, "hipFileWrite");
    check_all(hipFileRead(created.handle(), to, size, 0, 0), size, "hipFileRead");
    check_all(hipFileWrite(copied.handle(), to, size, 0, 0), size, "hipFileWrite");
  }
  check(hipFree(from), "hipFree");
  check(hipFree(to), "hipFree");
  if (hash(bytes) != hash_file(argv[1], 0, size)) fail(argv[1], "other bytes than were written");
  return report(hash(bytes), hash_file(argv[2], 0, size));
}
