// SPDX-License-Identifier: MIT
//
// How much host memory emulated devices may take. In a small cgroup the kernel kills the process
// instead of refusing memory, so the limits are read before anything is promised.
#pragma once

#include <cstdint>
#include <string>

namespace hip_portable::emulated {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// What the process may still take: the smaller of MemAvailable and of what its cgroups (v1 and v2,
// up to the root) leave. kNoLimit if nothing can be read.
// `root` stands before every path; tests give a recorded tree.
std::uint64_t available_memory(const std::string& root = "");

}  // namespace hip_portable::emulated
