// SPDX-License-Identifier: MIT
//
// By raw system call: libnuma is not worth a dependency for one call.
#include "gpu/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "gpu/guards.h"

namespace hipfile::gpu {
namespace {

constexpr int kPreferred = 1;  // MPOL_PREFERRED
constexpr int kMaxNodes = 1024;
constexpr int kBits = 8 * sizeof(unsigned long);

}  // namespace

int numa_node_of_pci(const std::string& bus_id, const std::string& root) {
  std::string name = bus_id;  // sysfs spells it in lower case
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (name.empty() || name.find('/') != std::string::npos) return -1;
  const std::string path = root + "/sys/bus/pci/devices/" + name + "/numa_node";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return -1;
  int node = -1;
  if (std::fscanf(file, "%d", &node) != 1) node = -1;
  std::fclose(file);
  return node;
}

int numa_node_of(const Runtime& runtime, int device) {
  const LastErrorGuard errors(runtime.hip);
  char bus_id[32] = {};
  const hipError_t error = runtime.hip.DeviceGetPCIBusId(bus_id, sizeof bus_id, device);
  return error == hipSuccess ? numa_node_of_pci(bus_id) : -1;
}

void prefer_numa_node(void* memory, size_t size, int node) {
  if (node < 0 || node >= kMaxNodes - 1) return;
  unsigned long mask[kMaxNodes / kBits] = {};
  mask[node / kBits] = 1ul << (node % kBits);
  // Refused by seccomp in many containers; the kernel then takes the node of the calling thread.
  (void)syscall(SYS_mbind, memory, size, kPreferred, mask, kMaxNodes, 0);
}

}  // namespace hipfile::gpu
