// SPDX-License-Identifier: MIT
#include "source.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include <cerrno>

namespace aiscp {
namespace {

// Not in every version of linux/magic.h.
constexpr long kXfs = 0x58465342;
constexpr long kConfigFs = 0x62656570;
constexpr long kFuseControl = 0x65735543;

bool is_pseudo_file_system(long magic) {
  switch (magic) {
    case PROC_SUPER_MAGIC: case SYSFS_MAGIC: case DEBUGFS_MAGIC: case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC: case CGROUP_SUPER_MAGIC: case CGROUP2_SUPER_MAGIC: case EFIVARFS_MAGIC:
    case PSTOREFS_MAGIC: case SELINUX_MAGIC: case BPF_FS_MAGIC: case NSFS_MAGIC:
    case BINFMTFS_MAGIC: case kConfigFs: case kFuseControl:
      return true;
    default:
      return false;
  }
}

bool has_trusted_holes(long magic) {
  return magic == EXT4_SUPER_MAGIC || magic == kXfs || magic == BTRFS_SUPER_MAGIC ||
         magic == TMPFS_MAGIC;
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

int open_without_hanging(const char* path, int flags) {
  const int wanted = flags | O_CLOEXEC | O_NOCTTY;
  const int fd = ::open(path, wanted | O_NONBLOCK);
  if (fd >= 0 || errno != EWOULDBLOCK) return fd;
  return ::open(path, wanted);  // leased by another: the kernel gives its holder 45 seconds
}

Status Source::open(const std::string& path, const struct stat& seen, Direct direct,
                    Source* source) {
  source->name = quote(path);
  source->fd = hipfile::UniqueFd(open_without_hanging(path.c_str(), O_RDONLY));
  if (!source->fd) {
    return Status::of_errno("cannot open " + source->name + " for reading", errno);
  }
  const int fd = source->fd.get();
  if (::fstat(fd, &source->first) != 0) {
    return Status::of_errno("cannot fstat " + source->name, errno);
  }
  if (source->first.st_dev != seen.st_dev || source->first.st_ino != seen.st_ino) {
    return Status::failure("skipping file " + source->name +
                           ", as it was replaced while being copied");
  }
  struct statfs fs {};
  if (source->is_regular() && ::fstatfs(fd, &fs) == 0) {
    const long magic = static_cast<long>(fs.f_type);
    source->is_pseudo = is_pseudo_file_system(magic);
    source->knows_holes = source->first.st_size > 0 && has_trusted_holes(magic);
  }
  source->expected_size_ = static_cast<uint64_t>(source->first.st_size);
  if (source->is_pseudo) source->expected_size_ = 0;
  if (S_ISBLK(source->first.st_mode)) {
    uint64_t bytes = 0;
    if (::ioctl(fd, BLKGETSIZE64, &bytes) == 0) source->expected_size_ = bytes;
  }
  ask_for_direct(fd, direct);
  return source->register_file(direct);
}

Status Source::register_file(Direct direct) {
  const Status status = file.open(fd.get());
  if (!status.ok()) return Status::failure("cannot read " + name + ": " + status.text());
  if (direct == Direct::kAlways && file.info().reads_direct == 0) {
    return Status::failure("cannot read " + name + " with O_DIRECT: " +
                           file.why_not_direct());
  }
  return {};
}

Status Source::check_unchanged(uint64_t end, bool* has_changed) const {
  *has_changed = false;
  if (!is_regular() || is_pseudo) return {};
  struct stat last {};
  if (::fstat(fd.get(), &last) != 0) return Status::of_errno("cannot fstat " + name, errno);
  const bool has_shrunk = last.st_size < first.st_size ||
                          (has_real_size() && static_cast<uint64_t>(last.st_size) < end);
  if (has_shrunk) return Status::failure(name + " shrank while it was copied");
  *has_changed = last.st_size != first.st_size || !is_same_time(last.st_mtim, first.st_mtim) ||
                 !is_same_time(last.st_ctim, first.st_ctim);
  return {};
}

}  // namespace aiscp
