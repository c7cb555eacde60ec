// SPDX-License-Identifier: MIT
//
// From a dlopen handle to a checked runtime.
#pragma once

#include <memory>
#include <string>

#include "gpu/loader.h"

namespace hipfile::gpu {

/// A runtime, or why it cannot be used.
struct Opened {
  std::unique_ptr<Runtime> runtime;
  std::string reason;
  bool is_loaded = false;     ///< the object is there, usable or not
  bool owns_devices = false;  ///< mapped, of no use to us, but the program may have memory of it
};

/// Open a shared object by name or path. With `is_mapped` it must be mapped already.
Opened open_runtime(const std::string& name, bool is_mapped);

/// The main program itself, if it exports hipMalloc (linked statically).
Opened open_main_program();

/// hipInit succeeds and there is a device; else the reason.
bool sees_device(const Runtime& runtime, std::string* reason);

}  // namespace hipfile::gpu
