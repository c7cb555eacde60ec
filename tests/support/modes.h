// SPDX-License-Identifier: MIT
//
// The modes of the emulated device that a test program runs in, for tests of what depends on them.
#pragma once

#include <cstdlib>
#include <string_view>

namespace hipfile::test {

inline bool has_setting(const char* name, std::string_view value) {
  const char* found = std::getenv(name);
  return found != nullptr && found == value;
}

// The device is NVIDIA's, by name (dev/gpu-test). The runtime is not asked: that would start it,
// and a child of fork could not use it any more.
inline bool is_on_nvidia() { return has_setting("HIP_PORTABLE_BACKEND", "cuda"); }

// It is a real one, which others use as well: not tests/support/fake_cuda.
inline bool is_on_gpu() {
  return is_on_nvidia() && std::getenv("HIP_PORTABLE_CUDA_LIBRARY") == nullptr;
}

// The modes of the emulated device: on another the variables mean nothing.
inline bool has_mode(const char* name, std::string_view value) {
  return !is_on_nvidia() && has_setting(name, value);
}

// The program cannot touch device memory.
inline bool is_strict() { return has_mode("HIP_PORTABLE_STRICT", "1"); }

// The device has the bad habits of drivers.
inline bool has_hazards() { return has_mode("HIP_PORTABLE_HAZARDS", "1"); }

// Only what AMD's kernel driver reads directly is read directly: no loop disk, no short read.
inline bool has_kernel_rules() { return has_mode("HIP_PORTABLE_DIRECT", "kernel"); }

}  // namespace hipfile::test
