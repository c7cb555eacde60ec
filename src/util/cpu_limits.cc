// SPDX-License-Identifier: MIT
//
// Reads small files under /proc and /sys/fs/cgroup. What cannot be read is no limit. A container
// may show its own cgroup as the root of the mount, so the path of the process is tried first and
// the root second.
#include "util/cpu_limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "util/env.h"

namespace hipfile {
namespace {

constexpr size_t kNoLimitV1 = size_t{1} << 62;  // v1 shows "no limit" as a huge number

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char text[4096];
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  return std::string(text, size);
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

std::string read_in_group(const std::string& mount, const std::string& group, const char* name) {
  std::string text = read_file(mount + group + "/" + name);
  return text.empty() ? read_file(mount + "/" + name) : text;
}

std::optional<size_t> left(const std::string& limit, const std::string& usage) {
  const std::optional<size_t> most = parse_size(first_word(limit).c_str());
  const std::optional<size_t> used = parse_size(first_word(usage).c_str());
  if (!most || *most >= kNoLimitV1) return std::nullopt;
  return *most - std::min(*most, used.value_or(0));
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
  return static_cast<unsigned>(std::min<size_t>((*quota + *period - 1) / *period, 4096));
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

std::optional<unsigned> cgroup_cpus(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  const std::string v2 = root + "/sys/fs/cgroup";
  if (const auto cpus = cpus_of_quota_v2(read_in_group(v2, cgroup_path(groups, ""), "cpu.max"))) {
    return cpus;
  }
  const std::string v1 = root + "/sys/fs/cgroup/cpu";
  const std::string group = cgroup_path(groups, "cpu");
  return cpus_of_quota_v1(read_in_group(v1, group, "cpu.cfs_quota_us"),
                          read_in_group(v1, group, "cpu.cfs_period_us"));
}

unsigned usable_cpus() {
  const unsigned affinity = affinity_cpus();
  return std::max(1u, std::min(affinity, cgroup_cpus().value_or(affinity)));
}

std::optional<size_t> cgroup_memory_left(const std::string& root) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  const std::string v2 = root + "/sys/fs/cgroup";
  const std::string v2_group = cgroup_path(groups, "");
  if (const auto bytes = left(read_in_group(v2, v2_group, "memory.max"),
                              read_in_group(v2, v2_group, "memory.current"))) {
    return bytes;
  }
  const std::string v1 = root + "/sys/fs/cgroup/memory";
  const std::string v1_group = cgroup_path(groups, "memory");
  return left(read_in_group(v1, v1_group, "memory.limit_in_bytes"),
              read_in_group(v1, v1_group, "memory.usage_in_bytes"));
}

}  // namespace hipfile
