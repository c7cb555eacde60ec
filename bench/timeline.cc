// SPDX-License-Identifier: MIT
//
// Preloaded (LD_PRELOAD), and named as NVIDIA's driver too (HIP_PORTABLE_CUDA_LIBRARY), of which it
// is a front: logs when reads, copies and waits of the process began and ended, and when the device
// began and ended each copy. At the end of the process the log goes to the file that
// HIPFILE_TIMELINE names, a line an event: what, thread, begin and end in µs, bytes. Lines "device"
// count from the begin of the first copy on the device, all others from the first event.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

using Handle = void*;
constexpr unsigned kMostEntries = 1 << 18;
constexpr unsigned kMostCopies = 1 << 13;
constexpr uint64_t kSmallest = 64 << 10;  // bytes: smaller reads are no file's

struct Entry {
  const char* what;
  int thread;
  int64_t begin_ns, end_ns;
  uint64_t bytes;
};
struct Copy {
  Handle begin, end;
  float begin_ms, end_ms;
  uint64_t bytes;
};

Entry entries[kMostEntries];
std::atomic<unsigned> entry_count{0};
Copy copies[kMostCopies];
unsigned copy_count = 0;
unsigned copies_resolved = 0;
std::mutex copies_mutex;

int64_t now_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

void add(const char* what, int64_t begin_ns, uint64_t bytes) {
  const unsigned at = entry_count.fetch_add(1);
  if (at < kMostEntries) entries[at] = {what, gettid(), begin_ns, now_ns(), bytes};
}

template <class Call>
auto logged(const char* what, uint64_t bytes, Call&& call) {
  const int64_t begin_ns = now_ns();
  const auto result = call();
  add(what, begin_ns, bytes);
  return result;
}

template <class... Arguments>
int driver(const char* name, Arguments... arguments) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))(arguments...);
}

// Marks of the device's clock around a copy. Queued under the lock, so that they enclose it alone.
int copy_with_marks(uint64_t to, uint64_t from, size_t size, Handle stream) {
  const std::lock_guard lock(copies_mutex);
  if (copy_count == kMostCopies) return driver("cuMemcpyAsync", to, from, size, stream);
  Copy& copy = copies[copy_count];
  copy.bytes = size;
  (void)driver("cuEventCreate", &copy.begin, 0u);
  (void)driver("cuEventCreate", &copy.end, 0u);
  (void)driver("cuEventRecord", copy.begin, stream);
  const int result = driver("cuMemcpyAsync", to, from, size, stream);
  (void)driver("cuEventRecord", copy.end, stream);
  ++copy_count;
  return result;
}

// Times are known once a stream was waited for.
void resolve() {
  const std::lock_guard lock(copies_mutex);
  for (; copies_resolved < copy_count; ++copies_resolved) {
    Copy& copy = copies[copies_resolved];
    if (driver("cuEventElapsedTime", &copy.begin_ms, copies[0].begin, copy.begin) != 0) return;
    if (driver("cuEventElapsedTime", &copy.end_ms, copies[0].begin, copy.end) != 0) return;
  }
}

struct Writer {
  ~Writer() {
    const char* path = std::getenv("HIPFILE_TIMELINE");
    std::FILE* file = path != nullptr ? std::fopen(path, "we") : nullptr;
    if (file == nullptr) return;
    const unsigned count = std::min(entry_count.load(), kMostEntries);
    for (unsigned i = 0; i < count; ++i) {
      const Entry& entry = entries[i];
      std::fprintf(file, "%s %d %.1f %.1f %llu\n", entry.what, entry.thread,
                   static_cast<double>(entry.begin_ns - entries[0].begin_ns) / 1e3,
                   static_cast<double>(entry.end_ns - entries[0].begin_ns) / 1e3,
                   static_cast<unsigned long long>(entry.bytes));
    }
    for (unsigned i = 0; i < copies_resolved; ++i) {
      std::fprintf(file, "device 0 %.1f %.1f %llu\n", static_cast<double>(copies[i].begin_ms) * 1e3,
                   static_cast<double>(copies[i].end_ms) * 1e3,
                   static_cast<unsigned long long>(copies[i].bytes));
    }
    std::fclose(file);
  }
} writer;

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED ssize_t pread64(int fd, void* data, size_t size, off64_t offset) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, void*, size_t, off64_t)>(dlsym(RTLD_NEXT, "pread64"));
  if (size < kSmallest) return real(fd, data, size, offset);
  return logged("read", size, [&] { return real(fd, data, size, offset); });
}

EXPORTED ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  return pread64(fd, data, size, offset);
}

EXPORTED int cuMemcpyAsync(uint64_t to, uint64_t from, size_t size, Handle stream) {
  if (size < kSmallest) return driver("cuMemcpyAsync", to, from, size, stream);
  return logged("queue", size, [&] { return copy_with_marks(to, from, size, stream); });
}

EXPORTED int cuEventSynchronize(Handle event) {
  return logged("wait", 0, [&] { return driver("cuEventSynchronize", event); });
}

EXPORTED int cuStreamSynchronize(Handle stream) {
  const int result = logged("finish", 0, [&] { return driver("cuStreamSynchronize", stream); });
  if (result == 0) resolve();
  return result;
}
