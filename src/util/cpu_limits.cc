// SPDX-License-Identifier: MIT
//
// Reads small files under /proc and /sys/fs/cgroup. What cannot be read is no limit.
#include "util/cpu_limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "util/arith.h"
#include "util/env.h"

namespace hipfile {
namespace {

constexpr size_t kNoLimitV1 = size_t{1} << 62;  // v1 shows "no limit" as a huge number

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char text[16384];  // a memory.stat is the largest of them
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  return std::string(text, size);
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

std::optional<size_t> number_in(const std::string& path) {
  return parse_size(first_word(read_file(path)).c_str());
}

// The number that follows a name at the beginning of a line.
std::optional<size_t> number_after(const std::string& text, const std::string& name) {
  const std::string wanted = "\n" + name + " ";
  const std::string lines = "\n" + text;
  const size_t found = lines.find(wanted);
  if (found == std::string::npos) return std::nullopt;
  return parse_size(first_word(lines.substr(found + wanted.size())).c_str());
}

// What the groups of one hierarchy leave: the least of them all.
std::optional<size_t> memory_left(const std::vector<std::string>& folders, const char* limit_name,
                                  const char* usage_name) {
  std::optional<size_t> least;
  for (const std::string& folder : folders) {
    const std::optional<size_t> limit = number_in(folder + "/" + limit_name);
    if (!limit || *limit >= kNoLimitV1) continue;
    const size_t used = number_in(folder + "/" + usage_name).value_or(0);
    const size_t held = used - std::min(used, reclaimable_of(read_file(folder + "/memory.stat")));
    const size_t left = *limit - std::min(*limit, held);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

std::optional<unsigned> least_of(std::optional<unsigned> a, std::optional<unsigned> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

unsigned affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1024;  // more processors than the set holds
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

std::optional<unsigned> cpus_of_quota_v1(const std::string& quota_us,
                                         const std::string& period_us) {
  const std::optional<size_t> quota = parse_size(first_word(quota_us).c_str());  // "-1": no limit
  const std::optional<size_t> period = parse_size(first_word(period_us).c_str());
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  const size_t cpus = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<unsigned>(std::min<size_t>(cpus, 4096));
}

std::optional<unsigned> cpus_of_quota_v2(const std::string& cpu_max) {
  const size_t space = cpu_max.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return cpus_of_quota_v1(cpu_max.substr(0, space), cpu_max.substr(space + 1));
}

std::string cgroup_path(const std::string& proc_self_cgroup, const std::string& controller) {
  size_t begin = 0;
  while (begin < proc_self_cgroup.size()) {
    const size_t end = std::min(proc_self_cgroup.find('\n', begin), proc_self_cgroup.size());
    const std::string line = proc_self_cgroup.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    return path == "/" ? std::string() : path;
  }
  return {};
}

std::vector<std::string> folders_up(const std::string& mount, const std::string& group) {
  std::vector<std::string> folders;
  for (std::string path = group; !path.empty(); path.resize(path.rfind('/'))) {
    if (path.find('/') == std::string::npos) break;
    folders.push_back(mount + path);
  }
  folders.push_back(mount);
  return folders;
}

size_t reclaimable_of(const std::string& memory_stat) {
  size_t bytes = 0;
  for (const std::string name : {"inactive_file", "active_file"}) {
    const std::optional<size_t> with_children = number_after(memory_stat, "total_" + name);
    const size_t more =
        with_children ? *with_children : number_after(memory_stat, name).value_or(0);
    bytes = add_overflows(bytes, more) ? SIZE_MAX : bytes + more;
  }
  return bytes;
}

std::optional<unsigned> cgroup_cpus(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  std::optional<unsigned> least;
  for (const auto& folder : folders_up(root + "/sys/fs/cgroup", cgroup_path(groups, ""))) {
    least = least_of(least, cpus_of_quota_v2(read_file(folder + "/cpu.max")));
  }
  for (const auto& folder : folders_up(root + "/sys/fs/cgroup/cpu", cgroup_path(groups, "cpu"))) {
    least = least_of(least, cpus_of_quota_v1(read_file(folder + "/cpu.cfs_quota_us"),
                                             read_file(folder + "/cpu.cfs_period_us")));
  }
  return least;
}

unsigned usable_cpus() {
  const unsigned affinity = affinity_cpus();
  return std::max(1u, std::min(affinity, cgroup_cpus().value_or(affinity)));
}

std::optional<size_t> cgroup_memory_left(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  const std::string v2 = root + "/sys/fs/cgroup";
  const std::string v1 = v2 + "/memory";
  const auto left = memory_left(folders_up(v2, cgroup_path(groups, "")), "memory.max",
                                "memory.current");
  if (left) return left;
  return memory_left(folders_up(v1, cgroup_path(groups, "memory")), "memory.limit_in_bytes",
                     "memory.usage_in_bytes");
}

}  // namespace hipfile
