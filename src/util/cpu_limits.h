// SPDX-License-Identifier: MIT
//
// How much processor and memory this process may really use: affinity and cgroups, v1 and v2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hipfile {

/// Processors of a cgroup quota, rounded up, from v2's cpu.max ("max 100000", "150000 100000") or
/// v1's two values. Nothing when there is no limit or no sense in it. Pure.
std::optional<unsigned> cpus_of_quota_v2(const std::string& cpu_max);
std::optional<unsigned> cpus_of_quota_v1(const std::string& quota_us, const std::string& period_us);

/// The path of this process in a hierarchy, from the text of /proc/self/cgroup: the line of the
/// named v1 controller, or the v2 line ("0::…") for an empty name. Pure.
std::string cgroup_path(const std::string& proc_self_cgroup, const std::string& controller);

/// Processors that threads of this process can occupy: min(affinity, cgroup quota), at least 1.
unsigned usable_cpus();

/// Bytes that the memory cgroup still leaves, or nothing without a limit. `root` stands before
/// /proc and /sys, for recorded trees.
std::optional<size_t> cgroup_memory_left(const std::string& root = "");

/// The quota of the cpu cgroup, or nothing.
std::optional<unsigned> cgroup_cpus(const std::string& root = "");

}  // namespace hipfile
