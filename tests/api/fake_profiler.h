// SPDX-License-Identifier: MIT
// What the stand-in of the profilers' libraries saw.
#pragma once

#include <dlfcn.h>
#include <hipfile-api-trace.h>

#include <cstdint>

namespace hipfile::test {

struct FakeRanges {
  int pushes = 0;
  int pops = 0;
  const char* last = "";
};

struct FakeProfiler {
  int registrations = 0;
  const char* name = "";
  uint32_t (*import)() = nullptr;
  uint32_t version = 0;
  uint64_t table_count = 0;
  hipFileDispatchTable* table = nullptr;
  hipFileOpError_t answer_inside = hipFileInternalError;  // of a call made while registering
  FakeRanges roctx;
  FakeRanges nvtx;
  FakeRanges injected;  // by NVTX_INJECTION64_PATH
};

// NULL where the library did not load the stand-in. Does not load it itself.
inline FakeProfiler* find_fake_profiler() {
  void* library = dlopen("librocprofiler-register.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto get = reinterpret_cast<FakeProfiler* (*)()>(dlsym(library, "fake_profiler"));
  return get == nullptr ? nullptr : get();
}

}  // namespace hipfile::test
