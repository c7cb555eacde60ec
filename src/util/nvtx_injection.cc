// SPDX-License-Identifier: MIT
//
// The interface between a program and its profiler is that of NVTX's nvtxTypes.h: tables of
// pointers to slots, one table per module, into which the profiler writes what it wants to hear of.
// We draw ranges of the module "core" alone; the slots of the others are there because profilers
// fill them in without asking.
#include "util/nvtx_injection.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace hipfile::trace {
namespace {

using Slot = void (*)();

constexpr uint32_t kCallbacksTable = 1, kVersionTable = 3;  // NvtxExportTableID
constexpr uint32_t kNvtxVersion = 3;

// NvtxCallbackModule: none, core, CUDA, OpenCL, the CUDA runtime, core2, sync; and what the core
// module numbers the two functions that we call.
constexpr unsigned kSizes[] = {0, 16, 16, 15, 7, 16, 7};
constexpr unsigned kModules = sizeof kSizes / sizeof kSizes[0];
constexpr unsigned kCore = 1, kRangePushA = 9, kRangePop = 11;
constexpr unsigned kMost = 16;

// What profilers write to, for as long as the process lives.
struct Module {
  Slot slots[kMost] = {};
  Slot* table[kMost + 1] = {};  // table[0] is no function, and NULL ends it
};
Module g_modules[kModules];

// int GetModuleFunctionTable(module, Slot*** table, unsigned* size)
int get_module(uint32_t module, Slot*** table, unsigned* size) {
  if (module == 0 || module >= kModules) return 0;
  if (table != nullptr) *table = g_modules[module].table;
  if (size != nullptr) *size = kSizes[module];
  return 1;
}

void set_injection_version(uint32_t) {}

struct Callbacks {
  size_t size;
  int (*get_module)(uint32_t module, Slot*** table, unsigned* size);
};
constexpr Callbacks kCallbacks = {sizeof(Callbacks), &get_module};

struct Version {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  void (*set_injection_version)(uint32_t version);
};
constexpr Version kVersion = {sizeof(Version), kNvtxVersion, 0, &set_injection_version};

const void* get_export_table(uint32_t id) {
  if (id == kCallbacksTable) return &kCallbacks;
  return id == kVersionTable ? &kVersion : nullptr;
}

}  // namespace

RangeFunctions inject_nvtx() {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return {};
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  using Initialize = int (*)(const void* (*get)(uint32_t id));
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr) return {};

  for (unsigned number = 1; number < kModules; ++number) {
    Module& module = g_modules[number];
    for (unsigned i = 1; i < kSizes[number]; ++i) module.table[i] = &module.slots[i];
  }
  if (initialize(&get_export_table) == 0) return {};
  const Slot* const core = g_modules[kCore].slots;
  if (core[kRangePushA] == nullptr || core[kRangePop] == nullptr) return {};
  return {reinterpret_cast<int (*)(const char*)>(core[kRangePushA]),
          reinterpret_cast<int (*)()>(core[kRangePop])};
}

}  // namespace hipfile::trace
