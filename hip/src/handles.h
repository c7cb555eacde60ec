// SPDX-License-Identifier: MIT
//
// Handles of streams, events, modules, graphs. A handle is a number that never comes again, not an
// address: one that was destroyed, or was never given, is recognised.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mutex.h"

namespace hip_portable {

// `kTag` keeps the handles of two tables apart.
template <typename Handle, typename Object, std::uintptr_t kTag>
class HandleTable {
 public:
  Handle add(std::shared_ptr<Object> object) HIP_PORTABLE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const std::uintptr_t key = (++last_ << 8) | kTag;
    objects_.emplace(key, std::move(object));
    return reinterpret_cast<Handle>(key);
  }

  // Null for an unknown handle. What is found stays alive while the caller holds it.
  std::shared_ptr<Object> find(Handle handle) const HIP_PORTABLE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found != objects_.end() ? found->second : nullptr;
  }

  // True for every handle that this table gave, destroyed or not.
  bool is_ours(Handle handle) const HIP_PORTABLE_EXCLUDES(mutex_) {
    const auto key = reinterpret_cast<std::uintptr_t>(handle);
    const MutexLock lock(mutex_);
    return (key & 0xff) == kTag && key >> 8 <= last_;
  }

  std::shared_ptr<Object> remove(Handle handle) HIP_PORTABLE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  std::vector<std::shared_ptr<Object>> remove_device(int device) HIP_PORTABLE_EXCLUDES(mutex_) {
    std::vector<std::shared_ptr<Object>> removed;
    const MutexLock lock(mutex_);
    for (auto at = objects_.begin(); at != objects_.end();) {
      const bool is_of_device = at->second->device == device;
      if (is_of_device) removed.push_back(std::move(at->second));
      at = is_of_device ? objects_.erase(at) : std::next(at);
    }
    return removed;
  }

 private:
  mutable Mutex mutex_;
  std::uintptr_t last_ HIP_PORTABLE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_
      HIP_PORTABLE_GUARDED_BY(mutex_);
};

}  // namespace hip_portable
