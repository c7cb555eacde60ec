// SPDX-License-Identifier: MIT
//
// What the environment says of the runtime: the variables that begin with HIP_PORTABLE_. Read once,
// when the runtime starts. A value that cannot be read is named on standard error and ignored.
#pragma once

#include <cstdint>

namespace hip_portable {

enum class BackendChoice { kAuto, kCuda, kEmulated, kUnknown };

// What hipAmdFileRead accepts: any block-backed ext4 or xfs, or only what AMD's kernel driver does.
enum class DirectRules { kPortable, kKernel };

struct Settings {
  BackendChoice backend = BackendChoice::kAuto;  // HIP_PORTABLE_BACKEND=auto|cuda|emulated
  int devices = 1;                               // HIP_PORTABLE_DEVICES=1..64
  std::uint64_t memory = 0;                      // HIP_PORTABLE_MEMORY, bytes per device; 0: free
  bool is_strict = false;                        // HIP_PORTABLE_STRICT=1
  bool has_hazards = false;                      // HIP_PORTABLE_HAZARDS=1
  DirectRules direct = DirectRules::kPortable;   // HIP_PORTABLE_DIRECT=kernel
  // HIP_PORTABLE_WITHOUT=wait-value,indirect-copy: a runtime that lacks these.
  bool has_wait_values = true;
  bool has_indirect_copies = true;
};

Settings read_settings();

// Decimal bytes with an optional K, M, G or T (times 1024), as "512M" or "512MiB".
bool parse_bytes(const char* text, std::uint64_t* bytes);

}  // namespace hip_portable
