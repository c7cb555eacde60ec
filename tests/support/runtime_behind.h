// SPDX-License-Identifier: MIT
// For the runtimes of tests, which are fronts: the portable runtime behind them.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

namespace hipfile::test {

// The function of that name in the runtime behind.
template <typename Function>
Function real(const char* name) {
  static void* const runtime = ::dlopen("libtest_runtime_core.so", RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = runtime == nullptr ? nullptr : ::dlsym(runtime, name);
  if (symbol == nullptr) std::abort();
  return reinterpret_cast<Function>(symbol);
}

}  // namespace hipfile::test
