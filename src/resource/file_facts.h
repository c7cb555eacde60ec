// SPDX-License-Identifier: MIT
//
// What is known of a file once, when it is registered: its type, its alignments for direct I/O, and
// whether O_DIRECT really goes past the page cache there.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "resource/mount_facts.h"
#include "util/result.h"

struct statx;

namespace hipfile {

/// What O_DIRECT means on a file.
struct DirectFacts {
  size_t memory_alignment = 0;  ///< of addresses, bytes; 0: no direct I/O
  size_t offset_alignment = 0;  ///< of file offsets and sizes, bytes; 0: no direct I/O
  size_t write_alignment = 0;   ///< of direct writes: max(offset, file-system block, page)
  bool reads_direct = false;    ///< direct reads go past the page cache
  bool writes_direct = false;   ///< direct writes go past the page cache
  bool probed = false;          ///< nothing was reported: the view must prove itself by a read

  bool possible() const { return offset_alignment != 0; }
};

struct FileFacts {
  mode_t mode = 0;  ///< type and permission bits
  dev_t device = 0;
  uint64_t inode = 0;
  int status_flags = 0;  ///< F_GETFL of the client's descriptor
  MountFacts mount;
  DirectFacts direct;
  /// cachestat(2) tells the truth there: ext4, xfs, btrfs. On overlay it sees nothing cached.
  bool reports_residency = false;

  bool is_regular() const;
  bool is_block_device() const;
  /// O_PATH: a name for the file and no access to it. It must not gain any by a second view.
  bool is_path_only() const;
  /// Rule 5 of the fastpath: a block device, xfs, or ext4 with ordered data.
  bool is_fastpath_file_system() const;
};

/// Read the facts of an open descriptor. Fails with the errno of fcntl(2) or statx(2).
Result<FileFacts> read_file_facts(int fd);

/// The meaning of O_DIRECT from what statx, statfs and the mount table say. Pure.
/// @param reported_memory,reported_offset statx DIO alignments, 0 if not reported
/// @param file_system_magic statfs f_type
/// @param block_size        statx stx_blksize
/// @param client_is_direct  the client's own descriptor has O_DIRECT
DirectFacts direct_facts(const FileFacts& file, size_t reported_memory, size_t reported_offset,
                         long file_system_magic, size_t block_size, bool client_is_direct);

}  // namespace hipfile
