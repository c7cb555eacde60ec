// SPDX-License-Identifier: MIT
// A HIP runtime for tests: the portable one behind a front that fails, hangs or stops the process
// at the Nth call, and counts what its callers hold.
//
// A call that fails does nothing, but for those that wait or give something back: they do their
// work and then fail, as those of real drivers do, which report there what happened earlier. All
// that is not here is found in the runtime behind, which is a dependency of this library.
#include "faulty_runtime.h"

#include <hip/hip_portable.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime_behind.h"

namespace {

using hipfile::test::real;

constexpr int kHang = -1;
constexpr int kStop = -2;

struct Plan {
  std::atomic<bool> is_armed{false};
  std::atomic<uint64_t> calls{0};
  std::atomic<const char*> failed{nullptr};
  std::string function;  // empty: all; these four are written while nothing is armed
  uint64_t nth = 0;
  int code = 0;
  bool is_lasting = false;
};

struct Counts {
  std::atomic<int64_t> device_allocations{0}, pinned_allocations{0}, registrations{0}, streams{0},
      events{0};
};

void arm(Plan& plan, const std::string& function, uint64_t nth, int code, bool is_lasting) {
  plan.function = function;
  plan.nth = nth;
  plan.code = code;
  plan.is_lasting = is_lasting;
  plan.calls = 0;
  plan.failed = nullptr;
  plan.is_armed = true;
}

void arm_by_environment(Plan& plan) {
  const char* text = std::getenv("HIPFILE_TEST_HIP_FAULT");
  if (text == nullptr) return;
  const std::string wish = text;
  const size_t first = wish.find(':');
  const size_t second = wish.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) std::abort();
  const std::string function = wish.substr(0, first);
  const std::string code = wish.substr(second + 1);
  const int number = code == "hang" ? kHang : code == "stop" ? kStop : std::atoi(code.c_str());
  arm(plan, function == "any" ? "" : function, std::strtoull(wish.c_str() + first + 1, nullptr, 10),
      number, false);
}

Plan& plan() {
  static Plan& instance = *[] {
    auto* made = new Plan;
    arm_by_environment(*made);
    return made;
  }();
  return instance;
}

Counts& counts() {
  static Counts& instance = *new Counts;
  return instance;
}

thread_local bool is_spared_thread = false;

bool is_due(const char* function) {
  Plan& wish = plan();
  if (!wish.is_armed.load() || is_spared_thread) return false;
  if (!wish.function.empty() && wish.function != function) return false;
  const uint64_t number = wish.calls.fetch_add(1) + 1;
  return number == wish.nth || (wish.is_lasting && number > wish.nth);
}

hipError_t fail(const char* function) {
  Plan& wish = plan();
  const char* none = nullptr;
  (void)wish.failed.compare_exchange_strong(none, function);
  while (wish.code == kHang) {
    const timespec hour = {3600, 0};
    ::nanosleep(&hour, nullptr);
  }
  const auto code = static_cast<hipError_t>(wish.code);
  (void)real<decltype(&hipPortableSetLastError)>("hipPortableSetLastError")(code);
  return code;
}

enum class Kind { kBegins, kEnds };

template <typename Call>
hipError_t run(const char* function, Kind kind, Call call) {
  if (!is_due(function)) return call();
  if (plan().code == kStop) {
    ::kill(::getpid(), SIGSTOP);
    return call();
  }
  if (kind == Kind::kEnds && plan().code != kHang) (void)call();
  return fail(function);
}

// Counts an object that a successful call makes (+1) or takes away (-1).
hipError_t count(std::atomic<int64_t>& objects, int change, hipError_t error) {
  if (error == hipSuccess) objects += change;
  return error;
}

std::atomic<int32_t> file_status{0};
std::atomic<uint64_t> file_calls{0};

// `real` does the work.
template <typename Call>
hipError_t file_call(const char* name, uint64_t* copied, int32_t* status, Call real) {
  if (const int32_t wished = file_status.load(); wished != 0) {
    ++file_calls;
    *copied = 0;
    *status = wished;
    return hipSuccess;
  }
  return run(name, Kind::kBegins, real);
}

using IndirectCopy = decltype(&hipPortableMemcpyIndirectAsync);
IndirectCopy real_indirect_copy = nullptr;

hipError_t indirect_copy(hipStream_t stream, const hipPortableIndirectCopy_t* descriptor) {
  return run("hipPortableMemcpyIndirectAsync", Kind::kBegins,
             [&] { return real_indirect_copy(stream, descriptor); });
}

hipAmdFileRead_t real_file_read = nullptr;
hipAmdFileWrite_t real_file_write = nullptr;

hipError_t file_read(hipAmdFileHandle_t handle, void* device, uint64_t size, int64_t offset,
                     uint64_t* copied, int32_t* status) {
  return file_call("hipAmdFileRead", copied, status,
                   [&] { return real_file_read(handle, device, size, offset, copied, status); });
}

hipError_t file_write(hipAmdFileHandle_t handle, void* device, uint64_t size, int64_t offset,
                      uint64_t* copied, int32_t* status) {
  return file_call("hipAmdFileWrite", copied, status,
                   [&] { return real_file_write(handle, device, size, offset, copied, status); });
}

using PortableRead = decltype(&hipPortableFileRead);
PortableRead real_portable_read = nullptr;

hipError_t portable_read(int fd, void* device, uint64_t size, int64_t offset, uint64_t* copied,
                         int32_t* status) {
  return file_call("hipPortableFileRead", copied, status,
                   [&] { return real_portable_read(fd, device, size, offset, copied, status); });
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void hip_fault_arm(const char* function, uint64_t nth, hipError_t code, bool is_lasting) {
  arm(plan(), function == nullptr ? "" : function, nth, code, is_lasting);
}
EXPORTED const char* hip_fault_disarm(void) {
  plan().is_armed = false;
  return plan().failed;
}
EXPORTED void hip_fault_spare_thread(bool is_spared) { is_spared_thread = is_spared; }
EXPORTED HipObjects hip_fault_objects(void) {
  Counts& all = counts();
  return {all.device_allocations, all.pinned_allocations, all.registrations, all.streams,
          all.events};
}

EXPORTED void hip_fault_file_status(int32_t status) {
  file_calls = 0;
  file_status = status;
}
EXPORTED uint64_t hip_fault_file_calls(void) { return file_calls; }

EXPORTED const char* hipPortableMarker(void) {
  return real<const char* (*)()>("hipPortableMarker")();
}

// FORWARD(name, kind, parameters, what becomes of `function` called with them)
#define FORWARD(name, kind, parameters, call)                            \
  EXPORTED hipError_t name parameters {                                  \
    using Function = hipError_t(*) parameters;                           \
    static const Function function = real<Function>(#name);              \
    return run(#name, Kind::kind, [&]() -> hipError_t { return call; }); \
  }

// clang-format off
FORWARD(hipInit, kBegins, (unsigned flags), function(flags))
FORWARD(hipRuntimeGetVersion, kBegins, (int* version), function(version))
FORWARD(hipGetDeviceCount, kBegins, (int* number), function(number))
FORWARD(hipGetDevice, kBegins, (int* device), function(device))
FORWARD(hipSetDevice, kBegins, (int device), function(device))
FORWARD(hipDeviceGetName, kBegins, (char* name, int size, hipDevice_t device),
        function(name, size, device))
FORWARD(hipDeviceGetPCIBusId, kBegins, (char* id, int size, int device),
        function(id, size, device))
FORWARD(hipDeviceGetStreamPriorityRange, kBegins, (int* least, int* greatest),
        function(least, greatest))
FORWARD(hipDeviceSynchronize, kEnds, (), function())
FORWARD(hipMalloc, kBegins, (void** data, size_t size),
        count(counts().device_allocations, 1, function(data, size)))
FORWARD(hipFree, kEnds, (void* data),
        count(counts().device_allocations, data == nullptr ? 0 : -1, function(data)))
FORWARD(hipMallocManaged, kBegins, (void** data, size_t size, unsigned flags),
        count(counts().device_allocations, 1, function(data, size, flags)))
FORWARD(hipHostMalloc, kBegins, (void** data, size_t size, unsigned flags),
        count(counts().pinned_allocations, 1, function(data, size, flags)))
FORWARD(hipHostFree, kEnds, (void* data),
        count(counts().pinned_allocations, data == nullptr ? 0 : -1, function(data)))
FORWARD(hipHostRegister, kBegins, (void* data, size_t size, unsigned flags),
        count(counts().registrations, 1, function(data, size, flags)))
FORWARD(hipHostUnregister, kEnds, (void* data),
        count(counts().registrations, -1, function(data)))
FORWARD(hipMemcpy, kBegins, (void* to, const void* from, size_t size, hipMemcpyKind kind),
        function(to, from, size, kind))
FORWARD(hipMemcpyAsync, kBegins,
        (void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream),
        function(to, from, size, kind, stream))
FORWARD(hipMemset, kBegins, (void* data, int value, size_t size), function(data, value, size))
FORWARD(hipMemsetAsync, kBegins, (void* data, int value, size_t size, hipStream_t stream),
        function(data, value, size, stream))
FORWARD(hipPointerGetAttributes, kBegins,
        (hipPointerAttribute_t* attributes, const void* pointer), function(attributes, pointer))
FORWARD(hipMemGetAddressRange, kBegins,
        (hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer), function(base, size, pointer))
FORWARD(hipMemGetInfo, kBegins, (size_t* left, size_t* total), function(left, total))
FORWARD(hipStreamCreateWithFlags, kBegins, (hipStream_t* stream, unsigned flags),
        count(counts().streams, 1, function(stream, flags)))
FORWARD(hipStreamCreateWithPriority, kBegins, (hipStream_t* stream, unsigned flags, int priority),
        count(counts().streams, 1, function(stream, flags, priority)))
FORWARD(hipStreamDestroy, kEnds, (hipStream_t stream),
        count(counts().streams, -1, function(stream)))
FORWARD(hipStreamSynchronize, kEnds, (hipStream_t stream), function(stream))
FORWARD(hipStreamWaitEvent, kBegins, (hipStream_t stream, hipEvent_t event, unsigned flags),
        function(stream, event, flags))
FORWARD(hipStreamGetDevice, kBegins, (hipStream_t stream, hipDevice_t* device),
        function(stream, device))
FORWARD(hipStreamIsCapturing, kBegins, (hipStream_t stream, hipStreamCaptureStatus* status),
        function(stream, status))
FORWARD(hipDeviceGetAttribute, kBegins, (int* value, hipDeviceAttribute_t attribute, int device),
        function(value, attribute, device))
FORWARD(hipLaunchHostFunc, kBegins, (hipStream_t stream, hipHostFn_t host, void* data),
        function(stream, host, data))
FORWARD(hipStreamWaitValue32, kBegins,
        (hipStream_t stream, void* word, uint32_t value, unsigned flags, uint32_t mask),
        function(stream, word, value, flags, mask))
FORWARD(hipEventCreateWithFlags, kBegins, (hipEvent_t* event, unsigned flags),
        count(counts().events, 1, function(event, flags)))
FORWARD(hipEventRecord, kBegins, (hipEvent_t event, hipStream_t stream), function(event, stream))
FORWARD(hipEventSynchronize, kEnds, (hipEvent_t event), function(event))
FORWARD(hipEventDestroy, kEnds, (hipEvent_t event), count(counts().events, -1, function(event)))
// clang-format on

EXPORTED hipError_t hipGetProcAddress(const char* symbol, void** pfn, int version, uint64_t flags,
                                      hipDriverProcAddressQueryResult* status) {
  using Function = decltype(&hipGetProcAddress);
  static const Function function = real<Function>("hipGetProcAddress");
  return run("hipGetProcAddress", Kind::kBegins, [&] {
    const hipError_t error = function(symbol, pfn, version, flags, status);
    if (error != hipSuccess || symbol == nullptr || pfn == nullptr) return error;
    if (std::strcmp(symbol, "hipAmdFileRead") == 0) {
      real_file_read = reinterpret_cast<hipAmdFileRead_t>(*pfn);
      *pfn = reinterpret_cast<void*>(&file_read);
    } else if (std::strcmp(symbol, "hipAmdFileWrite") == 0) {
      real_file_write = reinterpret_cast<hipAmdFileWrite_t>(*pfn);
      *pfn = reinterpret_cast<void*>(&file_write);
    } else if (std::strcmp(symbol, "hipPortableFileRead") == 0) {
      real_portable_read = reinterpret_cast<PortableRead>(*pfn);
      *pfn = reinterpret_cast<void*>(&portable_read);
    } else if (std::strcmp(symbol, "hipPortableMemcpyIndirectAsync") == 0) {
      real_indirect_copy = reinterpret_cast<IndirectCopy>(*pfn);
      *pfn = reinterpret_cast<void*>(&indirect_copy);
    }
    return error;
  });
}

}  // extern "C"
