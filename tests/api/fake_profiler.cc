// SPDX-License-Identifier: MIT
// A stand-in for librocprofiler-register, and under other names in the same folder for libroctx64
// and libnvToolsExt: it keeps what it is given.
#include "fake_profiler.h"

#include <cerrno>

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
