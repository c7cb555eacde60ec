// SPDX-License-Identifier: MIT
//
// What a call costs besides its work: the exported function, which goes through the dispatch table,
// beside the entry behind it; and a small read, which is counted (HIPFILE_STATS_LEVEL) and may draw
// a range (HIPFILE_PROFILE_NVTX); and the registration and deregistration of a file. Prints medians
// of several rounds, which take turns.
#include <fcntl.h>
#include <hipfile-api-trace.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

hipFileDispatchTable* g_table = nullptr;

template <class Call>
double ns_per_call(int times, Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / times;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// A nameless file of 4 KiB in FOLDER, or on tmpfs.
int make_file(const char* folder) {
  const std::string path = std::string(folder) + "/bench_calls.XXXXXX";
  std::vector<char> name(path.begin(), path.end());
  name.push_back('\0');
  const int fd = mkstemp(name.data());
  if (fd < 0 || ftruncate(fd, 4096) != 0) std::abort();
  unlink(name.data());
  return fd;
}

hipFileHandle_t register_file(int fd) {
  hipFileDescr_t descr = {};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  hipFileHandle_t handle = nullptr;
  if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) std::abort();
  return handle;
}

}  // namespace

// This program poses as rocprofiler-register, to learn where the table is.
extern "C" HIPFILE_API int rocprofiler_register_library_api_table(const char*, uint32_t (*)(),
                                                                  uint32_t, void** tables, uint64_t,
                                                                  uint64_t*) {
  g_table = static_cast<hipFileDispatchTable*>(tables[0]);
  return 0;
}

int main(int argc, char** argv) {
  (void)hipFileUseCount();
  if (g_table == nullptr) return 1;
  const char* folder = argc > 1 ? argv[1] : "/dev/shm";
  const hipFileHandle_t handle = register_file(make_file(folder));
  const int other = make_file(folder);
  static char memory[4096];
  if (hipFileBufRegister(memory, sizeof memory, 0).err != hipFileSuccess) return 1;
  const auto version = g_table->pfn_hipfile_get_version;
  constexpr int kRounds = 21;
  std::vector<double> exported, entry, read, registered;
  for (int round = 0; round < kRounds; ++round) {
    exported.push_back(
        ns_per_call(1000000, [] { (void)hipFileGetVersion(nullptr, nullptr, nullptr); }));
    entry.push_back(ns_per_call(1000000, [version] { (void)version(nullptr, nullptr, nullptr); }));
    read.push_back(ns_per_call(20000, [handle] {
      if (hipFileRead(handle, memory, sizeof memory, 0, 0) != sizeof memory) std::abort();
    }));
    registered.push_back(
        ns_per_call(1000, [other] { hipFileHandleDeregister(register_file(other)); }));
  }
  std::printf("exported function %.2f ns, entry alone %.2f ns, difference %.2f ns\n",
              median(exported), median(entry), median(exported) - median(entry));
  std::printf("read of 4 KiB into host memory %.1f ns\n", median(read));
  std::printf("registration and deregistration of a file %.2f us\n", median(registered) / 1e3);
  return 0;
}
