// SPDX-License-Identifier: MIT
//
// Entry point: functions by name.

#include <algorithm>
#include <cstring>

#include "entry.h"
#include "proc_table.h"

namespace {

void* find_function(const char* name) {
  const HipPortableFunction* const begin = hip_portable_functions;
  const HipPortableFunction* const end = begin + hip_portable_function_count;
  const auto is_before = [](const HipPortableFunction& function, const char* wanted) {
    return std::strcmp(function.name, wanted) < 0;
  };
  const HipPortableFunction* const at = std::lower_bound(begin, end, name, is_before);
  const bool is_found = at != end && std::strcmp(at->name, name) == 0;
  return is_found ? reinterpret_cast<void*>(at->address) : nullptr;
}

// The file calls are found where a device has a path to files, that of ours beside AMD's only where
// AMD's rules are not played, and the late-bound copy where a device knows it: a program asks for
// the names to learn that. Only these questions start the runtime.
bool is_offered(const char* name) {
  const bool is_own_read = std::strcmp(name, "hipPortableFileRead") == 0;
  const bool is_file_call = is_own_read || std::strncmp(name, "hipAmdFile", 10) == 0;
  const bool is_indirect_copy = std::strcmp(name, "hipPortableMemcpyIndirectAsync") == 0;
  if (!is_file_call && !is_indirect_copy) return true;
  hip_portable::Runtime* runtime = nullptr;
  if (hip_portable::enter(&runtime) != hipSuccess) return false;
  if (is_indirect_copy) return runtime->settings().has_indirect_copies;
  if (is_own_read && runtime->settings().direct == hip_portable::DirectRules::kKernel) return false;
  return runtime->device_count() > 0 && runtime->device(0).is_emulated();
}

}  // namespace

// Every function exists in one version, so the version is not looked at.
hipError_t hipGetProcAddress(const char* symbol, void** pfn, int /*hipVersion*/,
                             uint64_t /*flags*/,
                             hipDriverProcAddressQueryResult* symbolStatus) {
  if (symbol == nullptr || symbol[0] == '\0' || pfn == nullptr) {
    return hip_portable::remember(hipErrorInvalidValue);
  }
  *pfn = is_offered(symbol) ? find_function(symbol) : nullptr;
  if (symbolStatus != nullptr) {
    *symbolStatus = *pfn != nullptr ? HIP_GET_PROC_ADDRESS_SUCCESS
                                    : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return hip_portable::remember(*pfn != nullptr ? hipSuccess : hipErrorNotFound);
}
