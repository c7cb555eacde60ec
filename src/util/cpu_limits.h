// SPDX-License-Identifier: MIT
//
// How much processor and memory this process may really use: affinity and cgroups, v1 and v2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hipfile {

/// Processors of a cgroup quota, rounded up, from v2's cpu.max ("max 100000", "150000 100000") or
/// v1's two values. Nothing when there is no limit or no sense in it. Pure.
std::optional<unsigned> cpus_of_quota_v2(const std::string& cpu_max);
std::optional<unsigned> cpus_of_quota_v1(const std::string& quota_us, const std::string& period_us);

/// The path of this process in a hierarchy, from the text of /proc/self/cgroup: the line of the
/// named v1 controller, or the v2 line ("0::…") for an empty name. Pure.
std::string cgroup_path(const std::string& proc_self_cgroup, const std::string& controller);

/// The folder of a group and those above it up to its mount, innermost first: a limit of any of
/// them holds. A container may show its own group as the root of the mount; then only that exists.
/// Pure.
std::vector<std::string> folders_up(const std::string& mount, const std::string& group);

/// Bytes of cached file pages that the kernel gives up before it refuses memory, from the text of a
/// memory.stat; v1's has sums that include the groups below ("total_…"). Pure.
size_t reclaimable_of(const std::string& memory_stat);

/// Processors that threads of this process can occupy: min(affinity, cgroup quota), at least 1.
unsigned usable_cpus();

/// Bytes that the memory cgroup still leaves, counting the page cache as free, or nothing without a
/// limit. `root` stands before /proc and /sys, for recorded trees.
std::optional<size_t> cgroup_memory_left(const std::string& root = "");

/// The smallest quota of the cpu cgroup and those above it, or nothing.
std::optional<unsigned> cgroup_cpus(const std::string& root = "");

}  // namespace hipfile
