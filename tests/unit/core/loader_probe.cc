// SPDX-License-Identifier: MIT
//
// A process in which the loader works, since it binds once per process. Arguments are steps:
//   load=FILE     dlopen it, RTLD_LOCAL
//   global=FILE   dlopen it, RTLD_GLOBAL
//   bind          the runtime for anything
//   own=FILE      the runtime for memory that FILE's hipMalloc gives
//   host          the runtime for plain host memory
//   stream=FILE   query that memory, lease a copy stream on its device
//   describe      the binding, in words
// Each step but the first two prints a line: the base name of the runtime's path, or what went
// wrong.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "gpu/gpu.h"
#include "gpu/loader.h"

namespace {

using hipfile::Result;
using hipfile::gpu::Runtime;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string name_of(const Result<const Runtime*>& bound) {
  if (bound.ok()) return base_name(bound.value()->path);
  return "error " + std::to_string(bound.error().hip) + ": " + hipfile::gpu::bind_failure();
}

void* memory_of(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* pointer = nullptr;
  if (library == nullptr) return nullptr;
  const auto allocate =
      reinterpret_cast<hipError_t (*)(void**, size_t)>(dlsym(library, "hipMalloc"));
  return allocate(&pointer, 4096) == hipSuccess ? pointer : nullptr;
}

std::string stream_on(hipfile::Gpu& gpu, void* pointer) {
  const Result<hipfile::PointerInfo> info = gpu.query(pointer);
  if (!info.ok()) return "query failed";
  const auto stream = gpu.lease_stream(info.value().runtime, info.value().device);
  return stream.ok() ? base_name((*stream.value()).runtime->path) : "no stream";
}

}  // namespace

int main(int argc, char** argv) {
  hipfile::Gpu gpu;
  for (int at = 1; at < argc; ++at) {
    const std::string step = argv[at];
    const std::string verb = step.substr(0, step.find('='));
    const std::string file = verb == step ? "" : step.substr(verb.size() + 1);
    std::string answer;
    if (verb == "load") {
      if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) answer = dlerror();
    } else if (verb == "global") {
      if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) answer = dlerror();
    } else if (verb == "describe") {
      answer = hipfile::gpu::describe_binding();
    } else if (verb == "bind") {
      answer = name_of(hipfile::gpu::bind());
    } else if (verb == "own") {
      answer = name_of(hipfile::gpu::bind(memory_of(file)));
    } else if (verb == "host") {
      answer = name_of(hipfile::gpu::bind(&gpu));
    } else if (verb == "stream") {
      answer = stream_on(gpu, memory_of(file));
    }
    if (!answer.empty()) std::printf("%s\n", answer.c_str());
  }
  return 0;
}
