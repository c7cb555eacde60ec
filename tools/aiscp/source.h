// SPDX-License-Identifier: MIT
//
// The file that is read: what it was when it was opened, and whether it still is that at the end.
#pragma once

#include <sys/stat.h>

#include <string>

#include "options.h"
#include "registered.h"
#include "util/unique_fd.h"

namespace aiscp {

struct Source {
  std::string name;
  hipfile::UniqueFd fd;
  Registered file;  // declared after fd: deregistered before it is closed
  struct stat first {};
  bool is_pseudo = false;    ///< procfs, sysfs and their like: sizes mean nothing
  bool knows_holes = false;  ///< SEEK_HOLE can be trusted: ext4, xfs, btrfs, tmpfs

  bool is_regular() const { return S_ISREG(first.st_mode); }
  /// The size is that of the content, so far as it goes.
  bool has_real_size() const { return is_regular() && !is_pseudo && first.st_size > 0; }
  /// Bytes to expect, for progress and buffers; 0: unknown.
  uint64_t expected_size() const { return expected_size_; }

  /// Opens and registers `path`, which must still be the file that `seen` describes.
  static Status open(const std::string& path, const struct stat& seen, Direct direct,
                     Source* source);

  /// After the copy of `end` bytes: a failure if the source shrank.
  Status check_unchanged(uint64_t end, bool* has_changed) const;

 private:
  Status register_file(Direct direct);
  uint64_t expected_size_ = 0;
};

/// Opens without ever waiting for a FIFO's other end; waits where a lease must be broken first.
int open_without_hanging(const char* path, int flags);

}  // namespace aiscp
