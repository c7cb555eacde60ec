// SPDX-License-Identifier: MIT
//
// Reads /proc/meminfo and the memory controllers of the process's cgroups.

#include "memory_limits.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace hip_portable::emulated {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_text(const std::string& path) { return {std::fopen(path.c_str(), "re"), &std::fclose}; }

// The first number of a file. False also for the word "max".
bool read_number(const std::string& path, std::uint64_t* number) {
  const File file = open_text(path);
  char text[64];
  if (file == nullptr || std::fgets(text, sizeof(text), file.get()) == nullptr) return false;
  char* end = nullptr;
  errno = 0;
  *number = std::strtoull(text, &end, 10);
  return end != text && errno == 0;
}

// The number after `name` in a file of "name number" lines.
bool read_field(const std::string& path, const char* name, std::uint64_t* number) {
  const File file = open_text(path);
  if (file == nullptr) return false;
  char line[256];
  const std::size_t length = std::strlen(name);
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    if (std::strncmp(line, name, length) == 0) {
      *number = std::strtoull(line + length, nullptr, 10);
      return true;
    }
  }
  return false;
}

struct Controller {
  const char* limit;
  const char* usage;
  const char* cache;  // field of memory.stat: page cache that the kernel would drop first
};

constexpr Controller kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                  "total_inactive_file "};
constexpr Controller kVersion2 = {"/memory.max", "/memory.current", "inactive_file "};

std::uint64_t left_in(const std::string& folder, const Controller& controller) {
  std::uint64_t limit = 0;
  std::uint64_t usage = 0;
  if (!read_number(folder + controller.limit, &limit)) return kNoLimit;
  if (!read_number(folder + controller.usage, &usage)) return limit;
  std::uint64_t cache = 0;
  (void)read_field(folder + "/memory.stat", controller.cache, &cache);
  usage -= std::min(usage, cache);
  return limit - std::min(limit, usage);
}

// The least that is left in a group and all above it. Inside a container the mount may show only
// a part of the path: the mount point itself is looked at in any case.
std::uint64_t left_up_from(const std::string& mount, std::string path,
                           const Controller& controller) {
  std::uint64_t left = left_in(mount, controller);
  while (path.size() > 1) {
    left = std::min(left, left_in(mount + path, controller));
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return left;
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// Lines of /proc/self/cgroup: "4:memory:/path" (version 1) and "0::/path" (version 2).
std::uint64_t left_in_cgroups(const std::string& root) {
  const File file = open_text(root + "/proc/self/cgroup");
  if (file == nullptr) return kNoLimit;
  std::uint64_t left = kNoLimit;
  char line[4096];
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    const char* controllers = std::strchr(line, ':');
    const char* path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (path == nullptr) continue;
    const std::string names(controllers + 1, path);
    if (names.empty()) {
      left = std::min(left, left_up_from(root + "/sys/fs/cgroup", path + 1, kVersion2));
      left = std::min(left, left_up_from(root + "/sys/fs/cgroup/unified", path + 1, kVersion2));
    } else if (has_word(names, "memory")) {
      left = std::min(left, left_up_from(root + "/sys/fs/cgroup/memory", path + 1, kVersion1));
    }
  }
  return left;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  std::uint64_t kibibytes = 0;
  std::uint64_t available = kNoLimit;
  if (read_field(root + "/proc/meminfo", "MemAvailable:", &kibibytes)) {
    available = std::min(kibibytes, kNoLimit / 1024) * 1024;
  }
  return std::min(available, left_in_cgroups(root));
}

}  // namespace hip_portable::emulated
