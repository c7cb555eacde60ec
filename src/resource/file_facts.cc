// SPDX-License-Identifier: MIT
//
// Reads statx, statfs and the mount table, and concludes what O_DIRECT means. tmpfs, and ext4 with
// data=journal, accept O_DIRECT and go through the cache all the same: an accepted flag proves
// nothing, so a file counts as direct only where the kernel says so (statx DIO alignments, Linux
// 6.1), or on older kernels by file system and mount options.
#include "resource/file_facts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

#include "util/arith.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace hipfile {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kDefaultAlignment = 4096;

constexpr size_t kLargestBlock = 65536;  // beyond it a block size is a hint (NFS says 1 MiB)

// The file systems of which the mount table is asked; others have no data mode.
bool is_journaling(long file_system_magic) {
  return file_system_magic == EXT4_SUPER_MAGIC || file_system_magic == XFS_SUPER_MAGIC;
}

}  // namespace

bool FileFacts::is_regular() const { return S_ISREG(mode); }
bool FileFacts::is_block_device() const { return S_ISBLK(mode); }
bool FileFacts::is_path_only() const { return (status_flags & O_PATH) != 0; }

bool FileFacts::is_fastpath_file_system() const {
  return is_block_device() || (is_regular() && mount.data_mode == DataMode::kOrdered);
}

DirectFacts direct_facts(const FileFacts& file, size_t reported_memory, size_t reported_offset,
                         long file_system_magic, size_t block_size, bool client_is_direct) {
  DirectFacts facts;
  if (file.is_path_only() || (!file.is_regular() && !file.is_block_device())) return facts;
  const bool is_journaled = file.mount.data_mode == DataMode::kJournal;
  const bool is_known = file.is_block_device() || is_journaling(file_system_magic);
  if (reported_memory != 0 && reported_offset != 0) {
    facts.memory_alignment = reported_memory;
    facts.offset_alignment = reported_offset;
    facts.reads_direct = facts.writes_direct = true;
  } else if (is_known && !is_journaled) {  // a kernel before 6.1
    facts.memory_alignment = facts.offset_alignment = kDefaultAlignment;
    facts.reads_direct = facts.writes_direct = true;
  } else if (file_system_magic == BTRFS_SUPER_MAGIC) {
    facts.memory_alignment = facts.offset_alignment = kDefaultAlignment;
    facts.reads_direct = true;  // writes with checksums go through the cache
    facts.probed = true;
  } else if (client_is_direct) {  // the client's wish; where the bytes go is not known
    facts.memory_alignment = facts.offset_alignment = kDefaultAlignment;
    facts.probed = true;
  } else {
    return facts;
  }
  const bool is_block = is_power_of_two(block_size) && block_size <= kLargestBlock;
  facts.write_alignment = std::max({facts.offset_alignment, is_block ? block_size : 0, kPage});
  return facts;
}

Result<FileFacts> read_file_facts(int fd) {
  FileFacts facts;
  facts.status_flags = fcntl(fd, F_GETFL);
  if (facts.status_flags < 0) return Error::from_errno(errno);
  struct statx stat = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID | STATX_DIOALIGN, &stat) != 0) {
    return Error::from_errno(errno);
  }
  facts.mode = stat.stx_mode;
  facts.device = makedev(stat.stx_dev_major, stat.stx_dev_minor);
  facts.inode = stat.stx_ino;
  struct statfs volume = {};
  const bool has_volume = fstatfs(fd, &volume) == 0;  // O_PATH and old kernels: no magic, no harm
  if (facts.is_regular() && has_volume && is_journaling(static_cast<long>(volume.f_type))) {
    const bool has_mount_id = (stat.stx_mask & STATX_MNT_ID) != 0;
    facts.mount = mount_facts(facts.device, has_mount_id ? stat.stx_mnt_id : 0);
  }
  facts.reports_residency =
      facts.is_regular() && has_volume &&
      (is_journaling(static_cast<long>(volume.f_type)) || volume.f_type == BTRFS_SUPER_MAGIC);
  const bool is_reported = (stat.stx_mask & STATX_DIOALIGN) != 0;
  facts.direct = direct_facts(facts, is_reported ? stat.stx_dio_mem_align : 0,
                              is_reported ? stat.stx_dio_offset_align : 0,
                              has_volume ? static_cast<long>(volume.f_type) : 0, stat.stx_blksize,
                              (facts.status_flags & O_DIRECT) != 0);
  return facts;
}

}  // namespace hipfile
