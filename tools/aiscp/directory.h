// SPDX-License-Identifier: MIT
//
// The directory that a destination gets its name in, and what it allows. What works there is tried
// once, on empty hidden files, so that a long copy is not in vain.
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "util/unique_fd.h"

namespace aiscp {

/// What the kernel makes of permission bits in a directory: umask or default ACL decide.
struct NewFileMode {
  mode_t mode = 0;
  std::string acl;  ///< value of system.posix_acl_access, empty if there is none
};

class Directory {
 public:
  explicit Directory(hipfile::UniqueFd fd) : fd_(std::move(fd)) {}

  /// An O_PATH descriptor: also where the directory may not be listed.
  int fd() const { return fd_.get(); }

  /// Tries on a hidden file what a new file with these bits gets. 0 or an errno.
  int probe_mode(mode_t bits, NewFileMode* mode);

  /// Known after probe_mode(): an O_TMPFILE can be linked in; RENAME_NOREPLACE works; where it does
  /// not, a hidden name can be linked to another.
  bool can_link_unnamed() const { return can_link_unnamed_; }
  bool can_rename_noreplace() const { return can_rename_noreplace_; }
  bool can_link_named() const { return can_link_named_; }

  /// Flushes the entries. 0 or an errno.
  int sync() const;

 private:
  void probe_unnamed();
  void probe_named(std::string* name);

  hipfile::UniqueFd fd_;
  bool is_probed_ = false;
  bool can_link_unnamed_ = false;
  bool can_rename_noreplace_ = false;
  bool can_link_named_ = false;
  std::map<mode_t, NewFileMode> modes_;
};

/// The directories of this run, by device and inode.
class Directories {
 public:
  /// Null on failure, with errno set. The result lives as long as this object.
  Directory* open(const std::string& path);

 private:
  std::map<std::pair<dev_t, ino_t>, std::unique_ptr<Directory>> known_;
};

/// A fresh ".aiscp-XXXXXXXX".
std::string hidden_name();

/// Gives the unnamed file `fd` a name that must be free. 0 or an errno.
int link_unnamed(int fd, int directory, const std::string& name);

/// Renames within a directory, to a name that must be free. 0 or an errno.
int rename_noreplace(int directory, const std::string& from, const std::string& to);

/// PATH as directory and last component: "a/b" is {"a", "b"}, "b" is {".", "b"}.
std::pair<std::string, std::string> split_path(const std::string& path);

/// Follows `path` while its last component is a symbolic link. Empty, errno set, when it loops.
std::string resolve_last_component(std::string path);

}  // namespace aiscp
