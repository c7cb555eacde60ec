// SPDX-License-Identifier: MIT
//
// What is mapped into the process, by dl_iterate_phdr(3).
#pragma once

#include <string>
#include <vector>

namespace hipfile::gpu {

/// True for the base name of a HIP runtime: libamdhip64… or libhip_portable…
bool is_runtime_name(const std::string& path);

/// Paths of the mapped objects that bear such a name.
std::vector<std::string> mapped_runtimes();

/// A number that grows whenever an object is loaded.
unsigned long long load_count();

/// The folder of the object that contains this code, without a trailing slash; empty if unknown.
std::string own_folder();

}  // namespace hipfile::gpu
