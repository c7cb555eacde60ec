// SPDX-License-Identifier: MIT
//
// Names are found by walking the link map: guessing sonames would miss a runtime that was loaded
// under another one, and one opened with RTLD_LOCAL is not in the global scope.
#include "gpu/shared_objects.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <cstdlib>

namespace hipfile::gpu {
namespace {

int collect(dl_phdr_info* info, size_t, void* context) {
  const std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (is_runtime_name(path)) static_cast<std::vector<std::string>*>(context)->push_back(path);
  return 0;
}

int read_adds(dl_phdr_info* info, size_t size, void* context) {
  if (size >= offsetof(dl_phdr_info, dlpi_subs)) {
    *static_cast<unsigned long long*>(context) = info->dlpi_adds;
  }
  return 1;  // the first object knows
}

}  // namespace

bool is_runtime_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  return base.rfind("libamdhip64", 0) == 0 || base.rfind("libhip_portable", 0) == 0;
}

std::vector<std::string> mapped_runtimes() {
  std::vector<std::string> paths;
  dl_iterate_phdr(&collect, &paths);
  return paths;
}

unsigned long long load_count() {
  unsigned long long adds = 0;
  dl_iterate_phdr(&read_adds, &adds);
  return adds;
}

std::string own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  char resolved[PATH_MAX];
  std::string path = realpath(info.dli_fname, resolved) != nullptr ? resolved : info.dli_fname;
  if (path.find('/') == std::string::npos) {  // a program found by PATH: argv[0] has no folder
    path = realpath("/proc/self/exe", resolved) != nullptr ? resolved : path;
  }
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace hipfile::gpu
