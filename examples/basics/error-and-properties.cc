// SPDX-License-Identifier: MIT
//
// error-and-properties: the three shapes of an error, and what the library says about itself.
// Needs no file.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common.h"

using namespace example;

namespace {

// A transfer: a byte count, or -1 with errno, or a negated hipFile code.
void show(const char* what, ssize_t result) {
  const int error = errno;
  const char* text = result >= 0              ? "no error"
                     : IS_HIPFILE_ERR(result) ? HIPFILE_ERRSTR(result)
                                              : std::strerror(error);
  std::printf("%s: %zd, %s\n", what, result, text);
}

// Every other call: a code, and the HIP error behind hipFileHipDriverError.
void show(const char* what, hipFileError_t error) {
  std::printf("%s: %d, %s\n", what, error.err, HIPFILE_ERRSTR(error.err));
  if (IS_HIP_DRV_ERR(error)) std::printf("  HIP says: %s\n", hipGetErrorString(HIP_DRV_ERR(error)));
}

bool has(unsigned flags, unsigned bit) { return ((flags >> bit) & 1) != 0; }

void show_properties() {
  hipFileDriverProps_t properties;
  check(hipFileDriverGetProperties(&properties), "hipFileDriverGetProperties");
  std::printf("direct path to device memory: %s\n",
              has(properties.nvfs.driver_status_flags, hipFileNVMeP2PSupported) ? "yes" : "no");
  std::printf("way through host memory allowed: %s\n",
              has(properties.nvfs.driver_control_flags, hipFileAllowCompatMode) ? "yes" : "no");
  std::printf("batch: %s, streams: %s\n",
              has(properties.feature_flags, hipFileBatchIOSupported) ? "yes" : "no",
              has(properties.feature_flags, hipFileStreamsSupported) ? "yes" : "no");
  std::printf("largest system call: %llu KiB\n",
              static_cast<unsigned long long>(properties.nvfs.max_direct_io_size));
  std::printf("requests in a batch: %u\n", properties.max_batch_io_count);
}

}  // namespace

int main() {
  char byte = 0;
  show("read while the library is closed", hipFileRead(nullptr, &byte, 1, 0, 0));
  show("close before any open", hipFileDriverClose());
  check(hipFileDriverOpen(), "hipFileDriverOpen");
  show("read of no file", hipFileRead(nullptr, &byte, 1, 0, 0));
  show("register no buffer", hipFileBufRegister(nullptr, 1, 0));
  show_properties();
  check(hipFileDriverClose(), "hipFileDriverClose");
  std::printf("OK\n");
  return 0;
}
