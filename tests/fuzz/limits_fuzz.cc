// SPDX-License-Identifier: MIT
// Cgroup files, first as texts, then as a tree, by the library and by the runtime; and the NUMA
// node that sysfs tells of a device. Lines: two quotas, a limit, a usage, a node, a bus name; the
// rest is both /proc/self/cgroup and memory.stat.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz.h"
#include "gpu/numa.h"
#include "hip/src/emulated/memory_limits.h"
#include "util/cpu_limits.h"

namespace {

using hipfile::fuzz::require;

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

struct Tree {
  std::filesystem::path root;
  Tree() {
    std::string name = "/dev/shm/hipfile-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    root = name;
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
};

void check_quota(std::optional<unsigned> cpus) { require(!cpus || (*cpus >= 1 && *cpus <= 4096)); }

void check_path(const std::string& groups, const std::string& controller) {
  const std::string path = hipfile::cgroup_path(groups, controller);
  require(groups.find(path) != std::string::npos && path.find('\n') == std::string::npos);
  const std::vector<std::string> folders = hipfile::folders_up("/m", path);
  require(!folders.empty() && folders.back() == "/m");
  for (size_t at = 1; at < folders.size(); ++at) {
    require(folders[at - 1].rfind(folders[at], 0) == 0);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  lines.resize(std::max<size_t>(lines.size(), 6));
  std::string rest;
  for (size_t at = 6; at < lines.size(); ++at) rest += lines[at] + "\n";
  check_quota(hipfile::cpus_of_quota_v2(lines[0]));
  check_quota(hipfile::cpus_of_quota_v1(lines[0], lines[1]));
  for (const char* controller : {"", "memory", "cpu"}) check_path(rest, controller);
  const size_t both = hipfile::reclaimable_of(rest);
  require(both >= hipfile::reclaimable_of(rest.substr(0, rest.find("active_file"))));

  static const Tree& tree = *new Tree;
  const std::filesystem::path groups = tree.root / "sys/fs/cgroup";
  write_text(tree.root / "proc/self/cgroup", rest);
  write_text(groups / "cpu.max", lines[0]);
  write_text(groups / "memory.max", lines[2]);
  write_text(groups / "memory.current", lines[3]);
  write_text(groups / "memory.stat", rest);
  const std::optional<size_t> left = hipfile::cgroup_memory_left(tree.root);
  require(!left || *left <= size_t{1} << 62);
  check_quota(hipfile::cgroup_cpus(tree.root));
  write_text(tree.root / "proc/meminfo", "MemFree: 1 kB\nMemAvailable: " + lines[3] + " kB\n");
  write_text(groups / "memory/memory.limit_in_bytes", lines[2]);
  (void)hip_portable::emulated::available_memory(tree.root);

  write_text(tree.root / "sys/bus/pci/devices/0000:3b:00.0/numa_node", lines[4]);
  (void)hipfile::gpu::numa_node_of_pci("0000:3B:00.0", tree.root);
  (void)hipfile::gpu::numa_node_of_pci(lines[5], tree.root);
  return 0;
}
