// SPDX-License-Identifier: MIT
#include "replaceable.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace aiscp {
namespace {

bool is_mount_point(int directory, const std::string& name) {
  struct statx facts {};
  if (::statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE,
              &facts) != 0) {
    return false;  // then the rename says it, with EBUSY
  }
  return (facts.stx_attributes_mask & facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

bool may_be_open_for_writing(int read_fd) {
  // A read lease is granted only while nobody has the file open for writing: virtual machine
  // images, loop devices and logs in use are refused here.
  if (::fcntl(read_fd, F_SETLEASE, F_RDLCK) == 0) {
    (void)::fcntl(read_fd, F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno != EINVAL && errno != EOPNOTSUPP && errno != ENOTTY;  // those: no leases there
}

const char* why_in_place(int directory, const std::string& name, const struct stat& old,
                         int old_fd) {
  struct stat named {};
  if (::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      named.st_dev != old.st_dev || named.st_ino != old.st_ino) {
    return "its name leads elsewhere";  // /dev/stdout, /proc/self/fd/N
  }
  if (old.st_nlink != 1) return "it has several names";
  if (is_mount_point(directory, name)) return "it is a mount point";
  if (old_fd < 0) return "it cannot be read";
  if (may_be_open_for_writing(old_fd)) return "it may be open for writing";
  return nullptr;
}

}  // namespace aiscp
