// SPDX-License-Identifier: MIT
//
// Memory near a device: on a host of several NUMA nodes a copy across the nodes is slower.
#pragma once

#include <cstddef>
#include <string>

namespace hipfile::gpu {

struct Runtime;

/// The NUMA node of a PCI device ("0000:3B:00.0"), or -1 where nobody knows. `root` stands before
/// /sys, for recorded trees.
int numa_node_of_pci(const std::string& bus_id, const std::string& root = "");

/// The same for a device of a runtime.
int numa_node_of(const Runtime& runtime, int device);

/// Ask for pages of that node; others do as well. For memory that is not populated yet.
/// -1: nothing is asked.
void prefer_numa_node(void* memory, size_t size, int node);

}  // namespace hipfile::gpu
