// SPDX-License-Identifier: MIT
//
// Memory of every kind that a program may hand to hipFile: by HIP's calls, and on NVIDIA's device
// by the driver's own, as frameworks get theirs, and from another process.
#pragma once

#include <hip/hip_runtime_api.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace hipfile::test {

// One allocation, given back at its end. Without data it could not be had: `reason` says why.
struct Memory {
  ~Memory() {
    if (give_back) give_back();
  }
  char* at(size_t offset) const { return static_cast<char*>(data) + offset; }

  void* data = nullptr;
  size_t size = 0;
  hipMemoryType type = hipMemoryTypeDevice;
  bool is_range_known = true;  // where it begins and ends can be asked
  std::string reason;
  std::function<void()> give_back;
};

struct KindOfMemory {
  const char* name;
  void (*make)(Memory& memory);
};

inline void PrintTo(const KindOfMemory& kind, std::ostream* out) { *out << kind.name; }

// All that the device has.
std::vector<KindOfMemory> memory_kinds();

// This program as the other process, which lends memory: its `main` calls this with its arguments.
// False: it is the tests. `*status` is the exit status.
bool lends_memory(int argc, char** argv, int* status);

}  // namespace hipfile::test
