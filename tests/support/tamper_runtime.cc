// SPDX-License-Identifier: MIT
// A HIP runtime for tests, named by HIPFILE_HIP_LIBRARY: the portable runtime behind a thin front.
// With HIPFILE_TEST_TAMPER=1 it changes data on its way into device memory, so a copy that really
// went through the device differs from its source: behind a plain copy and a file call, and before
// a late-bound copy, whose flag says that all is done. It also logs the file calls (event_log.h).
//
// All else is found in the runtime behind, by the loader itself: that is a dependency of this
// library, and dlsym on a handle looks through the dependencies too. It is built of the same
// objects under a name that no search for a runtime matches.
#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "event_log.h"
#include "runtime_behind.h"

namespace {

using hipfile::test::real;

constexpr size_t kChanged = 16;  // bytes: a pattern cannot hold all of them by chance

bool is_tampering() {
  static const bool value = std::getenv("HIPFILE_TEST_TAMPER") != nullptr;
  return value;
}

hipfile::test::EventLog& events() {
  static hipfile::test::EventLog& log = *new hipfile::test::EventLog;
  return log;
}

bool goes_to_device(hipMemcpyKind kind, size_t size) {
  return is_tampering() && size >= kChanged &&
         (kind == hipMemcpyHostToDevice || kind == hipMemcpyDefault);
}

// What hipMalloc gave, from start to size; kept for ever.
std::mutex allocations_mutex;
std::map<uintptr_t, size_t>& allocations() {
  static auto& all = *new std::map<uintptr_t, size_t>;
  return all;
}

bool is_device_memory(const void* pointer) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto at = allocations().upper_bound(address);
  return at != allocations().begin() && address - (--at)->first < at->second;
}

uint8_t* middle_of(void* data, size_t size) {
  return static_cast<uint8_t*>(data) + (size - kChanged) / 2;
}

// In a stream, where the descriptor that follows is filled in.
void change_source(void* descriptor) {
  const auto& copy = *static_cast<const hipPortableIndirectCopy_t*>(descriptor);
  if (copy.size < kChanged || !is_device_memory(copy.destination) ||
      is_device_memory(copy.source)) {
    return;
  }
  std::memset(middle_of(const_cast<void*>(copy.source), copy.size), 0xa5, kChanged);
}

hipError_t memcpy_indirect(hipStream_t stream, const hipPortableIndirectCopy_t* descriptor) {
  if (is_tampering()) {
    const hipError_t error = real<decltype(&hipLaunchHostFunc)>("hipLaunchHostFunc")(
        stream, change_source, const_cast<hipPortableIndirectCopy_t*>(descriptor));
    if (error != hipSuccess) return error;
  }
  return real<decltype(&hipPortableMemcpyIndirectAsync)>("hipPortableMemcpyIndirectAsync")(
      stream, descriptor);
}

template <typename Function>
Function by_name(const char* name) {
  void* pointer = nullptr;
  (void)real<decltype(&hipGetProcAddress)>("hipGetProcAddress")(name, &pointer, 0, 0, nullptr);
  return reinterpret_cast<Function>(pointer);
}

// A file of wrong bytes, kept open.
int wrong_file() {
  char changed[kChanged];
  std::memset(changed, 0xa5, sizeof changed);
  const int fd = memfd_create("wrong bytes", MFD_CLOEXEC);
  (void)!pwrite(fd, changed, sizeof changed, 0);
  return fd;
}

// By a file call too, where there is one for any file: a copy could stand behind the streams that
// wait for this very call.
void change_device_memory(void* to) {
  static const auto read = by_name<decltype(&hipPortableFileRead)>("hipPortableFileRead");
  static const int fd = wrong_file();
  uint64_t copied = 0;
  int32_t status = 0;
  if (read != nullptr) {
    (void)read(fd, to, kChanged, 0, &copied, &status);
    return;
  }
  char changed[kChanged];
  (void)!pread(fd, changed, sizeof changed, 0);
  (void)real<decltype(&hipMemcpy)>("hipMemcpy")(to, changed, kChanged, hipMemcpyHostToDevice);
}

template <typename Call>
hipError_t tampered_read(void* device, uint64_t size, int64_t offset, const uint64_t* copied,
                         Call call) {
  events().add("read-begin", offset, size);
  const hipError_t error = call();
  events().add("read-end", offset, size);
  if (is_tampering() && error == hipSuccess && *copied >= kChanged) {
    change_device_memory(middle_of(device, *copied));
  }
  return error;
}

hipError_t amd_file_read(hipAmdFileHandle_t handle, void* device, uint64_t size, int64_t offset,
                         uint64_t* copied, int32_t* status) {
  static const auto function = by_name<hipAmdFileRead_t>("hipAmdFileRead");
  return tampered_read(device, size, offset, copied,
                       [&] { return function(handle, device, size, offset, copied, status); });
}

hipError_t portable_file_read(int fd, void* device, uint64_t size, int64_t offset, uint64_t* copied,
                              int32_t* status) {
  static const auto function = by_name<decltype(&hipPortableFileRead)>("hipPortableFileRead");
  return tampered_read(device, size, offset, copied,
                       [&] { return function(fd, device, size, offset, copied, status); });
}

hipError_t amd_file_write(hipAmdFileHandle_t handle, void* device, uint64_t size, int64_t offset,
                          uint64_t* copied, int32_t* status) {
  static const auto function = by_name<hipAmdFileWrite_t>("hipAmdFileWrite");
  events().add("write-begin", offset, size);
  const hipError_t error = function(handle, device, size, offset, copied, status);
  events().add("write-end", offset, size);
  return error;
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED const char* hipPortableMarker(void) {
  return real<const char* (*)()>("hipPortableMarker")();
}

EXPORTED hipError_t hipMalloc(void** ptr, size_t size) {
  const hipError_t error = real<hipError_t (*)(void**, size_t)>("hipMalloc")(ptr, size);
  if (error == hipSuccess) {
    const std::lock_guard<std::mutex> lock(allocations_mutex);
    allocations()[reinterpret_cast<uintptr_t>(*ptr)] = size;
  }
  return error;
}

EXPORTED hipError_t hipMemcpyAsync(void* dst, const void* src, size_t size, hipMemcpyKind kind,
                                   hipStream_t stream) {
  const hipError_t error =
      real<decltype(&hipMemcpyAsync)>("hipMemcpyAsync")(dst, src, size, kind, stream);
  if (error != hipSuccess || !goes_to_device(kind, size)) return error;
  return real<decltype(&hipMemsetAsync)>("hipMemsetAsync")(middle_of(dst, size), 0xa5, kChanged,
                                                           stream);
}

EXPORTED hipError_t hipMemcpy(void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  using Function = hipError_t (*)(void*, const void*, size_t, hipMemcpyKind);
  const hipError_t error = real<Function>("hipMemcpy")(dst, src, size, kind);
  if (error != hipSuccess || !goes_to_device(kind, size)) return error;
  return real<hipError_t (*)(void*, int, size_t)>("hipMemset")(middle_of(dst, size), 0xa5,
                                                               kChanged);
}

EXPORTED hipError_t hipGetProcAddress(const char* symbol, void** pfn, int version, uint64_t flags,
                                      hipDriverProcAddressQueryResult* status) {
  const hipError_t error =
      real<decltype(&hipGetProcAddress)>("hipGetProcAddress")(symbol, pfn, version, flags, status);
  if (error != hipSuccess || symbol == nullptr) return error;
  if (std::strcmp(symbol, "hipAmdFileRead") == 0) *pfn = reinterpret_cast<void*>(&amd_file_read);
  if (std::strcmp(symbol, "hipPortableFileRead") == 0) {
    *pfn = reinterpret_cast<void*>(&portable_file_read);
  }
  if (std::strcmp(symbol, "hipAmdFileWrite") == 0) *pfn = reinterpret_cast<void*>(&amd_file_write);
  if (std::strcmp(symbol, "hipMemcpyAsync") == 0) *pfn = reinterpret_cast<void*>(&hipMemcpyAsync);
  if (std::strcmp(symbol, "hipPortableMemcpyIndirectAsync") == 0) {
    *pfn = reinterpret_cast<void*>(&memcpy_indirect);
  }
  return error;
}

}  // extern "C"
