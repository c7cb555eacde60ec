// SPDX-License-Identifier: MIT
//
// Opens a runtime with RTLD_LOCAL, fills the table with dlsym, and checks that what it found is one
// object, new enough, and (by the marker) whose it is.
#include "gpu/open_runtime.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "gpu/guards.h"

namespace hipfile::gpu {
namespace {

constexpr int kOldestMajor = 6;  // memory types and pointer attributes changed with HIP 6

template <class Function>
bool find(void* object, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(object, name));
  return function != nullptr;
}

const void* object_of(const void* symbol) {
  Dl_info info = {};
  return symbol != nullptr && dladdr(symbol, &info) != 0 ? info.dli_fbase : nullptr;
}

// Fills the required members; the name of one that is missing, or NULL.
const char* fill_required(void* object, HipTable& hip) {
  const char* missing = nullptr;
#define HIPFILE_HIP_FIND(name) \
  if (!find(object, "hip" #name, hip.name)) missing = "hip" #name;
  HIPFILE_HIP_REQUIRED(HIPFILE_HIP_FIND)
#undef HIPFILE_HIP_FIND
  if (!find(object, "hipMalloc", hip.Malloc)) missing = "hipMalloc";
  if (!find(object, "hipHostMalloc", hip.HostMalloc)) missing = "hipHostMalloc";
  return missing;
}

// hipAmdFileRead and hipAmdFileWrite stand in no header and are found by hipGetProcAddress only.
// Both must be there.
void find_direct_io(Runtime& runtime) {
  void* read = nullptr;
  void* write = nullptr;
  hipDriverProcAddressQueryResult status = {};
  const HipTable& hip = runtime.hip;
  const bool has_read =
      hip.GetProcAddress("hipAmdFileRead", &read, runtime.version, 0, &status) == hipSuccess &&
      read != nullptr;
  const bool has_write =
      hip.GetProcAddress("hipAmdFileWrite", &write, runtime.version, 0, &status) == hipSuccess &&
      write != nullptr;
  if (!has_read || !has_write) return;
  runtime.hip.AmdFileRead = reinterpret_cast<hipAmdFileRead_t>(read);
  runtime.hip.AmdFileWrite = reinterpret_cast<hipAmdFileWrite_t>(write);
}

// A function of ours that is found where the device has it.
template <class Function>
void find_own(const Runtime& runtime, const char* name, Function& function) {
  void* found = nullptr;
  hipDriverProcAddressQueryResult status = {};
  if (runtime.hip.GetProcAddress(name, &found, runtime.version, 0, &status) == hipSuccess) {
    function = reinterpret_cast<Function>(found);
  }
}

// Takes the place of a found object, or says why not.
Opened check(void* object, const std::string& name) {
  Opened opened;
  auto runtime = std::make_unique<Runtime>();
  HipTable& hip = runtime->hip;
  if (const char* missing = fill_required(object, hip)) {
    opened.reason = name + " has no " + missing;
    return opened;
  }
#define HIPFILE_HIP_FIND(name) find(object, "hip" #name, hip.name);
  HIPFILE_HIP_OPTIONAL(HIPFILE_HIP_FIND)
#undef HIPFILE_HIP_FIND
  find(object, "hipPortableMarker", hip.PortableMarker);
  const void* home = object_of(reinterpret_cast<const void*>(hip.Malloc));
  if (home == nullptr || home != object_of(reinterpret_cast<const void*>(hip.MemcpyAsync))) {
    opened.reason = name + ": its functions come from several objects";
    return opened;
  }
  runtime->is_portable = hip.PortableMarker != nullptr &&
                         home == object_of(reinterpret_cast<const void*>(hip.PortableMarker));
  if (runtime->is_portable) {
    find(object, "hipPortableSetLastError", hip.PortableSetLastError);
    find(object, "hipPortableDeviceIsEmulated", hip.PortableDeviceIsEmulated);
    find(object, "hipPortablePassedOver", hip.PortablePassedOver);
    find(object, "hipPortableIndirectCopyStatus", hip.PortableIndirectCopyStatus);
  }
  Dl_info info = {};
  dladdr(reinterpret_cast<const void*>(hip.Malloc), &info);
  runtime->path = info.dli_fname != nullptr ? info.dli_fname : name;
  const LastErrorGuard errors(hip);
  if (hip.RuntimeGetVersion(&runtime->version) != hipSuccess) {
    opened.reason = name + " does not tell its version";
    return opened;
  }
  const int major = runtime->version / 10000000;
  if (major < kOldestMajor) {
    opened.reason = name + " is HIP " + std::to_string(major) + ", older than 6";
    return opened;
  }
  find_direct_io(*runtime);
  if (runtime->is_portable) {
    find_own(*runtime, "hipPortableMemcpyIndirectAsync", hip.PortableMemcpyIndirectAsync);
    find_own(*runtime, "hipPortableFileRead", hip.PortableFileRead);
  }
  opened.runtime = std::move(runtime);
  return opened;
}

// Of a runtime that is of no use: not all of the table may be there.
bool counts_devices(void* object) {
  HipTable hip;
  int count = 0;
  if (!find(object, "hipGetDeviceCount", hip.GetDeviceCount) ||
      !find(object, "hipPeekAtLastError", hip.PeekAtLastError) ||
      !find(object, "hipGetLastError", hip.GetLastError)) {
    return false;
  }
  find(object, "hipPortableSetLastError", hip.PortableSetLastError);
  const LastErrorGuard errors(hip);
  return hip.GetDeviceCount(&count) == hipSuccess && count > 0;
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown error";
}

}  // namespace

Opened open_runtime(const std::string& name, bool is_mapped) {
  const int flags = RTLD_NOW | RTLD_LOCAL | (is_mapped ? RTLD_NOLOAD : 0);
  void* object = dlopen(name.c_str(), flags);
  if (object == nullptr) return {nullptr, last_dl_error(), false, false};
  Opened opened = check(object, name);
  opened.is_loaded = true;
  if (opened.runtime) return opened;
  opened.owns_devices = is_mapped && counts_devices(object);
  dlclose(object);
  return opened;
}

Opened open_main_program() {
  void* program = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);
  if (program == nullptr) return {nullptr, last_dl_error(), false, false};
  const void* found = dlsym(program, "hipMalloc");
  // The search goes on into the program's libraries; those are found by their own names.
  const void* entry = reinterpret_cast<const void*>(getauxval(AT_ENTRY));
  const bool is_own = found != nullptr && object_of(found) == object_of(entry);
  return is_own ? check(program, "the program")
                : Opened{nullptr, "the program exports no HIP", false, false};
}

bool sees_device(const Runtime& runtime, std::string* reason) {
  int count = 0;
  hipError_t error = runtime.hip.Init(0);
  if (error == hipSuccess) error = runtime.hip.GetDeviceCount(&count);
  if (error == hipSuccess && count > 0) return true;
  (void)runtime.hip.GetLastError();
  const char* name = error == hipSuccess ? "no device" : runtime.hip.GetErrorName(error);
  *reason = runtime.path + ": " + (name != nullptr ? name : "unknown error");
  return false;
}

}  // namespace hipfile::gpu
