// SPDX-License-Identifier: MIT
// A stand-in for librocprofiler-register, and under other names in the same folder for libroctx64
// and libnvToolsExt, and for a profiler that NVTX 3 injects: it keeps what it is given.
#include "fake_profiler.h"

#include <cerrno>
#include <utility>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {
hipfile::test::FakeProfiler g_fake;

int push(hipfile::test::FakeRanges& ranges, const char* name) {
  errno = EXDEV;
  ranges.last = name;
  return ranges.pushes++;
}
int pop(hipfile::test::FakeRanges& ranges) {
  errno = EXDEV;
  return ranges.pops++;
}
}  // namespace

FAKE_API hipfile::test::FakeProfiler* fake_profiler() { return &g_fake; }

FAKE_API int rocprofiler_register_library_api_table(const char* name, uint32_t (*import)(),
                                                    uint32_t version, void** tables,
                                                    uint64_t table_count, uint64_t* id) {
  ++g_fake.registrations;
  g_fake.name = name;
  g_fake.import = import;
  g_fake.version = version;
  g_fake.table_count = table_count;
  g_fake.table = static_cast<hipFileDispatchTable*>(tables[0]);
  *id = 1;
  using GetVersion = hipFileError_t (*)(unsigned*, unsigned*, unsigned*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "hipFileGetVersion"));
  g_fake.answer_inside = get_version(nullptr, nullptr, nullptr).err;
  return 0;
}

FAKE_API int roctxRangePushA(const char* name) { return push(g_fake.roctx, name); }
FAKE_API int roctxRangePop() { return pop(g_fake.roctx); }
FAKE_API int nvtxRangePushA(const char* name) { return push(g_fake.nvtx, name); }
FAKE_API int nvtxRangePop() { return pop(g_fake.nvtx); }

// As a profiler does it: it takes the table of each module that it knows and fills in its
// functions.
FAKE_API int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t id)) {
  using Function = void (*)();
  struct Callbacks {
    size_t size;
    int (*get_module)(uint32_t module, Function*** table, unsigned* size);
  };
  const auto* callbacks = static_cast<const Callbacks*>(get_export_table(1));
  if (callbacks == nullptr || get_export_table(77) != nullptr) return 0;
  for (const auto& [module, last] : {std::pair{1u, 15u}, {5u, 15u}, {6u, 6u}}) {
    Function** table = nullptr;
    unsigned size = 0;
    if (callbacks->get_module(module, &table, &size) == 0 || size <= last) return 0;
    for (unsigned i = 1; i <= last; ++i) *table[i] = [] {};
    if (module != 1) continue;
    *table[9] =
        reinterpret_cast<Function>(+[](const char* name) { return push(g_fake.injected, name); });
    *table[11] = reinterpret_cast<Function>(+[] { return pop(g_fake.injected); });
  }
  return 1;
}
