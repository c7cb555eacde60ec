// SPDX-License-Identifier: MIT
#include "attributes.h"

#include <linux/capability.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace aiscp {
namespace {

const char kAcl[] = "system.posix_acl_access";

/// What chattr can change; extents and such are the file system's business.
constexpr unsigned kSettableFlags = FS_FL_USER_MODIFIABLE | FS_JOURNAL_DATA_FL | FS_NOCOMP_FL |
                                    FS_NOCOW_FL | FS_DAX_FL | FS_PROJINHERIT_FL;

/// A write drops set-id bits unless the process may keep them.
bool keeps_setid() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[0].effective & (1u << CAP_FSETID)) != 0;
}

mode_t mode_after_write(mode_t mode) {
  mode &= 07777;
  if (keeps_setid()) return mode;
  mode &= ~static_cast<mode_t>(S_ISUID);
  if ((mode & S_IXGRP) != 0) mode &= ~static_cast<mode_t>(S_ISGID);
  return mode;
}

bool transfer_owner(const struct stat& old, int new_fd) {
  struct stat now {};
  if (::fstat(new_fd, &now) != 0) return false;
  if (now.st_uid == old.st_uid && now.st_gid == old.st_gid) return true;
  return ::fchown(new_fd, old.st_uid, old.st_gid) == 0;
}

/// False where reading fails; a file system without flags has none to give.
bool transfer_flags(int old_fd, int new_fd) {
  unsigned old_flags = 0,
           new_flags = 0;  // the kernel writes an int, whatever the ioctl's name says
  if (::ioctl(old_fd, FS_IOC_GETFLAGS, &old_flags) != 0) return true;
  if (::ioctl(new_fd, FS_IOC_GETFLAGS, &new_flags) != 0) return false;
  if (((old_flags ^ new_flags) & kSettableFlags) != 0) {
    unsigned wanted = (new_flags & ~kSettableFlags) | (old_flags & kSettableFlags);
    if (::ioctl(new_fd, FS_IOC_SETFLAGS, &wanted) != 0) return false;
  }
  struct fsxattr old_extended {}, new_extended {};
  if (::ioctl(old_fd, FS_IOC_FSGETXATTR, &old_extended) != 0) return true;
  if (::ioctl(new_fd, FS_IOC_FSGETXATTR, &new_extended) != 0) return false;
  // A project is a quota's account; it is not ours to move files between those.
  return old_extended.fsx_projid == new_extended.fsx_projid;
}

bool list_names(int fd, std::vector<std::string>* names) {
  std::vector<char> list(64 << 10);  // the kernel's limit
  const ssize_t n = ::flistxattr(fd, list.data(), list.size());
  if (n < 0) return errno == ENOTSUP;
  for (const char* name = list.data(); name < list.data() + n;) {
    names->emplace_back(name);
    name += names->back().size() + 1;
  }
  return true;
}

bool get_value(int fd, const std::string& name, std::string* value) {
  value->resize(64 << 10);
  const ssize_t n = ::fgetxattr(fd, name.c_str(), value->data(), value->size());
  value->resize(n > 0 ? static_cast<size_t>(n) : 0);
  return n >= 0;
}

bool is_dropped_by_writes(const std::string& name) { return name == "security.capability"; }

/// Made by the kernel from content or inode; not to be carried to another file.
bool is_bound_to_file(const std::string& name) {
  return name == "security.ima" || name == "security.evm";
}

bool transfer_xattrs(int old_fd, int new_fd) {
  std::vector<std::string> old_names, new_names;
  if (!list_names(old_fd, &old_names) || !list_names(new_fd, &new_names)) return false;
  for (const std::string& name : old_names) {
    if (is_dropped_by_writes(name) || name == kAcl) continue;
    if (is_bound_to_file(name)) return false;
    std::string value, now;
    if (!get_value(old_fd, name, &value)) return false;
    if (get_value(new_fd, name, &now) && now == value) continue;
    if (::fsetxattr(new_fd, name.c_str(), value.data(), value.size(), 0) != 0) return false;
  }
  // What the directory gave to the new file only.
  for (const std::string& name : new_names) {
    const bool is_old = std::find(old_names.begin(), old_names.end(), name) != old_names.end();
    if (is_old || name == kAcl || name.starts_with("security.")) continue;
    if (::fremovexattr(new_fd, name.c_str()) != 0) return false;
  }
  return true;
}

}  // namespace

int set_mode_and_acl(int fd, mode_t mode, const std::string& acl) {
  if (acl.empty()) {
    if (::fremovexattr(fd, kAcl) != 0 && errno != ENODATA && errno != ENOTSUP && errno != EINVAL) {
      return errno;
    }
  } else if (::fsetxattr(fd, kAcl, acl.data(), acl.size(), 0) != 0) {
    return errno;
  }
  struct stat st {};
  if (::fstat(fd, &st) != 0) return errno;
  if ((st.st_mode & 07777) == mode) return 0;
  return ::fchmod(fd, mode) == 0 ? 0 : errno;
}

bool transfer_attributes(int old_fd, int new_fd) {
  struct stat old {}, now {};
  if (::fstat(old_fd, &old) != 0 || !transfer_owner(old, new_fd)) return false;
  if (!transfer_flags(old_fd, new_fd) || !transfer_xattrs(old_fd, new_fd)) return false;
  std::string acl;
  if (!get_value(old_fd, kAcl, &acl)) {
    if (errno != ENODATA && errno != ENOTSUP && errno != EOPNOTSUPP) return false;
    acl.clear();
  }
  const mode_t mode = mode_after_write(old.st_mode);
  if (set_mode_and_acl(new_fd, mode, acl) != 0) return false;
  // The kernel drops set-group-id silently where the process is not of that group.
  return ::fstat(new_fd, &now) == 0 && (now.st_mode & 07777) == mode;
}

}  // namespace aiscp
