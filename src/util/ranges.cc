// SPDX-License-Identifier: MIT
//
// All libraries offer the same two functions under names of their own.
#include "util/ranges.h"

#include <dlfcn.h>

#include <cerrno>
#include <initializer_list>

#include "util/nvtx_injection.h"

namespace hipfile::trace {
namespace {

struct Libraries {
  RangeFunctions roctx;
  RangeFunctions nvtx;
};

void* find(const char* symbol, std::initializer_list<const char*> files) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  for (const char* file : files) {
    if (found != nullptr) break;
    if (void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL)) found = dlsym(library, symbol);
  }
  return found;
}

RangeFunctions find_pair(const char* push, const char* pop,
                         std::initializer_list<const char*> files) {
  RangeFunctions pair;
  pair.push = reinterpret_cast<int (*)(const char*)>(find(push, files));
  pair.pop = reinterpret_cast<int (*)()>(find(pop, files));
  return pair.push != nullptr && pair.pop != nullptr ? pair : RangeFunctions();
}

// A profiler that is injected would be told of each range twice if it listened to the library too.
RangeFunctions find_nvtx() {
  const RangeFunctions injected = inject_nvtx();
  if (injected.push != nullptr) return injected;
  return find_pair("nvtxRangePushA", "nvtxRangePop", {"libnvToolsExt.so.1"});
}

const Libraries& libraries() {
  static const Libraries found = {
      find_pair("roctxRangePushA", "roctxRangePop",
                {"librocprofiler-sdk-roctx.so.1", "libroctx64.so.4", "libroctx64.so"}),
      find_nvtx()};
  return found;
}

}  // namespace

std::atomic<uint32_t> g_attention{kUnannounced};

void set_ranges(bool is_on) {
  const bool has_any =
      is_on && (libraries().roctx.push != nullptr || libraries().nvtx.push != nullptr);
  if (has_any) {
    g_attention.fetch_or(kRanges, std::memory_order_relaxed);
  } else if (g_attention.load(std::memory_order_relaxed) & kRanges) {
    g_attention.fetch_and(~uint32_t{kRanges}, std::memory_order_relaxed);
  }
}

Range::Range(const char* name) {
  const int before = errno;
  if (libraries().roctx.push != nullptr) libraries().roctx.push(name);
  if (libraries().nvtx.push != nullptr) libraries().nvtx.push(name);
  errno = before;
}

Range::~Range() {
  const int before = errno;
  if (libraries().nvtx.pop != nullptr) libraries().nvtx.pop();
  if (libraries().roctx.pop != nullptr) libraries().roctx.pop();
  errno = before;
}

}  // namespace hipfile::trace
