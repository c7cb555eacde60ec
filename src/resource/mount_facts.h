// SPDX-License-Identifier: MIT
//
// What the mount table says of the file system that a file lies on. Read once per device and mount,
// and kept: parsing /proc/self/mountinfo takes longer than a whole registration may.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace hipfile {

/// How a file system journals data, as far as direct I/O cares.
enum class DataMode {
  kOrdered,    ///< ext4's default, and every xfs
  kJournal,    ///< ext4 data=journal: O_DIRECT is accepted and goes through the cache
  kWriteback,  ///< ext4 data=writeback
  kUnknown,    ///< another file system, or no mount entry visible
};

struct MountFacts {
  std::string file_system;  ///< as in the mount table: "ext4", "xfs", …; empty if not found
  DataMode data_mode = DataMode::kUnknown;
};

/// The data mode that a file-system type and its option string mean. Pure.
DataMode data_mode_of(const std::string& file_system, const std::string& options);

/// Facts of the mount of a device. `mount_id` (statx stx_mnt_id, 0 if unknown) keeps two mounts of
/// one device apart. Never fails: what cannot be read is kUnknown, and asked again next time.
MountFacts mount_facts(dev_t device, uint64_t mount_id);

}  // namespace hipfile
