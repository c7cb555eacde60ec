// SPDX-License-Identifier: MIT
#include "cuda_program.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace hipfile::test {
namespace {

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "test support: NVIDIA's driver: %s\n", what);
  std::abort();
}

void* function_named(void* library, const char* name) {
  void* function = ::dlsym(library, name);
  if (function == nullptr) give_up(name);
  return function;
}

CudaCalls open_driver() {
  const char* named = std::getenv("HIP_PORTABLE_CUDA_LIBRARY");
  void* library = ::dlopen(named != nullptr ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(::dlerror());
  CudaCalls calls;
#define HIPFILE_TEST_CUDA_FIND(member, symbol, parameters) \
  calls.member = reinterpret_cast<decltype(calls.member)>(function_named(library, symbol));
  HIP_PORTABLE_CUDA_FUNCTIONS(HIPFILE_TEST_CUDA_FIND)
  HIPFILE_TEST_CUDA_FUNCTIONS(HIPFILE_TEST_CUDA_FIND)
#undef HIPFILE_TEST_CUDA_FIND
  if (calls.init(0) != hip_portable::cuda::kSuccess) give_up("cuInit");
  return calls;
}

hip_portable::cuda::Context primary_context() {
  static const hip_portable::cuda::Context context = [] {
    hip_portable::cuda::Context retained = nullptr;
    if (cuda().primary_context_retain(&retained, 0) != hip_portable::cuda::kSuccess) {
      give_up("cuDevicePrimaryCtxRetain");
    }
    return retained;
  }();
  return context;
}

}  // namespace

const CudaCalls& cuda() {
  static const CudaCalls calls = open_driver();
  return calls;
}

InCudaContext::InCudaContext() {
  if (cuda().context_push(primary_context()) != hip_portable::cuda::kSuccess) {
    give_up("cuCtxPushCurrent");
  }
}

InCudaContext::~InCudaContext() {
  hip_portable::cuda::Context popped = nullptr;
  (void)cuda().context_pop(&popped);
}

}  // namespace hipfile::test
