// SPDX-License-Identifier: MIT
// A HIP runtime for tests that is as AMD's is: named like it, without the marker of the portable
// one, and destroyed by an exit handler of its own, behind which any call ends the process. The
// portable runtime does the work behind it. By the environment:
//
//   HIPFILE_TEST_HANG=FUNCTION   that function never returns
//   HIPFILE_TEST_FAIL=FUNCTION   that function fails
//   HIPFILE_TEST_EVENTS=FILE     what it was asked for (event_log.h):
//       stream FLAGS PRIORITY | plain-stream 0 0 | copy IS-NULL-STREAM SIZE | plain-copy 0 SIZE |
//       register FLAGS SIZE | synchronize-device 0 0 | hang 0 0
#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "event_log.h"
#include "runtime_behind.h"

namespace {

using hipfile::test::real;

std::atomic<bool> g_is_destroyed{false};

hipfile::test::EventLog& events() {
  static hipfile::test::EventLog& log = *new hipfile::test::EventLog;
  return log;
}

bool names(const char* variable, const char* function) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, function) == 0;
}

// True if the call is to fail.
bool enter(const char* function) {
  if (g_is_destroyed) {
    constexpr char kText[] = "a call of HIP after its end\n";
    (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
    ::abort();
  }
  if (names("HIPFILE_TEST_HANG", function)) {
    events().add("hang", 0, 0);
    for (;;) ::pause();
  }
  if (!names("HIPFILE_TEST_FAIL", function)) return false;
  (void)real<decltype(&hipPortableSetLastError)>("hipPortableSetLastError")(hipErrorUnknown);
  return true;
}

hipError_t file_read(hipAmdFileHandle_t handle, void* device, uint64_t size, int64_t offset,
                     uint64_t* copied, int32_t* status) {
  if (enter("hipAmdFileRead")) return hipErrorUnknown;
  void* function = nullptr;
  (void)real<decltype(&hipGetProcAddress)>("hipGetProcAddress")("hipAmdFileRead", &function, 0, 0,
                                                                nullptr);
  return reinterpret_cast<hipAmdFileRead_t>(function)(handle, device, size, offset, copied, status);
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

// FRONT(name, parameters, what is logged, the call of `function`)
#define FRONT(name, parameters, log, call)                  \
  EXPORTED hipError_t name parameters {                     \
    using Function = hipError_t(*) parameters;              \
    static const Function function = real<Function>(#name); \
    if (enter(#name)) return hipErrorUnknown;               \
    log;                                                    \
    return call;                                            \
  }
#define NOTHING static_cast<void>(0)

// clang-format off
FRONT(hipMalloc, (void** data, size_t size), NOTHING, function(data, size))
FRONT(hipGetDevice, (int* device), NOTHING, function(device))
FRONT(hipSetDevice, (int device), NOTHING, function(device))
FRONT(hipPeekAtLastError, (), NOTHING, function())
FRONT(hipGetLastError, (), NOTHING, function())
FRONT(hipPointerGetAttributes, (hipPointerAttribute_t* attributes, const void* pointer), NOTHING,
      function(attributes, pointer))
FRONT(hipStreamCreateWithPriority, (hipStream_t* stream, unsigned flags, int priority),
      events().add("stream", flags, static_cast<uint64_t>(-priority)),
      function(stream, flags, priority))
FRONT(hipStreamCreateWithFlags, (hipStream_t* stream, unsigned flags),
      events().add("plain-stream", 0, 0), function(stream, flags))
FRONT(hipMemcpyAsync,
      (void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream),
      events().add("copy", stream == nullptr ? 1 : 0, size),
      function(to, from, size, kind, stream))
FRONT(hipMemcpy, (void* to, const void* from, size_t size, hipMemcpyKind kind),
      events().add("plain-copy", 0, size), function(to, from, size, kind))
FRONT(hipHostRegister, (void* data, size_t size, unsigned flags),
      events().add("register", flags, size), function(data, size, flags))
FRONT(hipStreamSynchronize, (hipStream_t stream), NOTHING, function(stream))
FRONT(hipEventSynchronize, (hipEvent_t event), NOTHING, function(event))
FRONT(hipDeviceSynchronize, (), events().add("synchronize-device", 0, 0), function())
// clang-format on

EXPORTED hipError_t hipInit(unsigned flags) {
  using Function = decltype(&hipInit);
  static const Function function = real<Function>("hipInit");
  static const int registered = std::atexit([] { g_is_destroyed = true; });
  if (registered != 0 || enter("hipInit")) return hipErrorUnknown;
  return function(flags);
}

EXPORTED hipError_t hipGetProcAddress(const char* symbol, void** pfn, int version, uint64_t flags,
                                      hipDriverProcAddressQueryResult* status) {
  using Function = decltype(&hipGetProcAddress);
  static const Function function = real<Function>("hipGetProcAddress");
  if (enter("hipGetProcAddress")) return hipErrorUnknown;
  const hipError_t error = function(symbol, pfn, version, flags, status);
  if (error == hipSuccess && symbol != nullptr && std::strcmp(symbol, "hipAmdFileRead") == 0) {
    *pfn = reinterpret_cast<void*>(&file_read);
  }
  return error;
}

}  // extern "C"
