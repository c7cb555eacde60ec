// SPDX-License-Identifier: MIT
// Storage calls of a test program that fail: pread and pwrite on one file, the library's and the
// emulated device's. Link faulty_calls.cc into the program; its definitions come first.
#pragma once

#include <cstdint>
#include <string>

namespace hipfile::test {

struct CallFault {
  uint64_t nth = 0;         // of the calls on the file, on all threads; 0: none
  int error = 0;            // errno; 0 (a read): as if the file ended there
  bool moves_half = false;  // half is moved before, and the call for the rest fails
  unsigned delay_ms = 0;    // all calls on the file are slow
};

void arm_calls(const std::string& path, const CallFault& fault);
// Returns true if a call failed.
bool disarm_calls();

}  // namespace hipfile::test
