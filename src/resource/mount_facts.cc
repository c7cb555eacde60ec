// SPDX-License-Identifier: MIT
//
// The mount table through libmount, remembered per device and mount.
#include "resource/mount_facts.h"

#include <libmount/libmount.h>

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "util/mutex.h"

namespace hipfile {
namespace {

using Key = std::pair<dev_t, uint64_t>;

struct Cache {
  Mutex mutex;
  std::map<Key, MountFacts> entries HIPFILE_GUARDED_BY(mutex);
};

Cache& cache() {
  static Cache* const instance = new Cache;  // leaked: usable until the process ends
  return *instance;
}

MountFacts read_mount_table(dev_t device) {
  MountFacts facts;
  const std::unique_ptr<libmnt_table, void (*)(libmnt_table*)> table(
      mnt_new_table_from_file("/proc/self/mountinfo"), &mnt_unref_table);
  if (!table) return facts;
  libmnt_fs* entry = mnt_table_find_devno(table.get(), device, MNT_ITER_FORWARD);
  if (entry == nullptr) return facts;
  if (const char* type = mnt_fs_get_fstype(entry)) facts.file_system = type;
  const char* options = mnt_fs_get_fs_options(entry);
  facts.data_mode = data_mode_of(facts.file_system, options != nullptr ? options : "");
  return facts;
}

}  // namespace

DataMode data_mode_of(const std::string& file_system, const std::string& options) {
  if (file_system == "xfs") return DataMode::kOrdered;
  if (file_system != "ext4") return DataMode::kUnknown;
  std::string_view rest = options;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view option = rest.substr(0, comma);
    if (option == "data=journal") return DataMode::kJournal;
    if (option == "data=writeback") return DataMode::kWriteback;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return DataMode::kOrdered;  // ext4 leaves the default out of its options
}

MountFacts mount_facts(dev_t device, uint64_t mount_id) {
  Cache& known = cache();
  const Key key(device, mount_id);
  {
    MutexLock lock(known.mutex);
    const auto found = known.entries.find(key);
    if (found != known.entries.end()) return found->second;
  }
  MountFacts facts = read_mount_table(device);
  if (facts.file_system.empty()) return facts;
  MutexLock lock(known.mutex);
  return known.entries.emplace(key, std::move(facts)).first->second;
}

}  // namespace hipfile
