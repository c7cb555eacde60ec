// SPDX-License-Identifier: MIT
//
// Finding, opening and starting NVIDIA's driver library.

#include "cuda_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

#include "cuda_errors.h"

namespace hip_portable::cuda {
namespace {

// The file to open, or null where the kernel side of the driver is not there.
const char* library_name() {
  const char* named = std::getenv("HIP_PORTABLE_CUDA_LIBRARY");
  if (named != nullptr && *named != '\0') return named;
  const bool is_present =
      access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  return is_present ? "libcuda.so.1" : nullptr;
}

bool resolve_all(void* library, Driver& driver) {
  bool is_complete = true;
#define HIP_PORTABLE_CUDA_RESOLVE(member, symbol, parameters)                      \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, symbol)); \
  is_complete = is_complete && driver.member != nullptr;
  HIP_PORTABLE_CUDA_FUNCTIONS(HIP_PORTABLE_CUDA_RESOLVE)
#undef HIP_PORTABLE_CUDA_RESOLVE
  return is_complete;
}

// The driver answers "no device" where it may not open what it needs.
bool is_forbidden() {
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"}) {
    if (access(node, F_OK) == 0 && access(node, R_OK | W_OK) != 0) return true;
  }
  return false;
}

hipError_t start(DriverState& state) {
  Result result = state.driver.init(0);
  if (result == kSuccess) result = state.driver.device_get_count(&state.device_count);
  if (result != kSuccess) {
    const bool is_vague = result == kNoDevice || result == kUnknown;
    return is_vague && is_forbidden() ? hipErrorOperatingSystem : to_hip(result);
  }
  return state.device_count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t load(DriverState& state) {
  const char* name = library_name();
  if (name == nullptr) return hipErrorNoDevice;
  // Never closed: the driver does not survive it.
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return hipErrorSharedObjectInitFailed;
  if (!resolve_all(library, state.driver)) return hipErrorInsufficientDriver;
  return start(state);
}

}  // namespace

const DriverState& driver_state() {
  // Leaked on purpose: threads may call during exit.
  static const DriverState* state = [] {
    DriverState* loaded = new DriverState;
    loaded->error = load(*loaded);
    return loaded;
  }();
  return *state;
}

}  // namespace hip_portable::cuda
