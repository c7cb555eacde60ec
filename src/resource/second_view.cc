// SPDX-License-Identifier: MIT
//
// O_DIRECT cannot be flipped on a duplicate: status flags belong to the open file description,
// which the client shares. So the file is opened anew, through its descriptor and never through its
// name.
#include "resource/second_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "resource/record_locks.h"

namespace hipfile {
namespace {

constexpr size_t kProbeSize = 4096;

hipFileExtViewReason_t reason_of(int error, bool is_proc_there) {
  switch (error) {
    case ENOENT:
      return is_proc_there ? hipFileExtViewOther : hipFileExtViewNoProc;
    case ENOTDIR:
      return hipFileExtViewNoProc;
    case EACCES:
    case EPERM:
    case EROFS:
      return hipFileExtViewNoPermission;
    case EMFILE:
    case ENFILE:
      return hipFileExtViewNoDescriptors;
    case EINVAL:
    case EOPNOTSUPP:
      return hipFileExtViewNotSupported;
    case EAGAIN:
      return hipFileExtViewLeased;
    default:
      return hipFileExtViewOther;
  }
}

SecondView refused(hipFileExtViewReason_t reason, int error) {
  SecondView view;
  view.reason = reason;
  view.error = error;
  return view;
}

bool is_same_file(int fd, const FileFacts& facts) {
  struct stat now = {};
  if (fstat(fd, &now) != 0) return false;
  const bool is_same_type = (now.st_mode & S_IFMT) == (facts.mode & S_IFMT);
  return is_same_type && now.st_dev == facts.device && now.st_ino == facts.inode;
}

// Some file systems accept the flag when opening and answer EINVAL to every request.
int probe_direct_read(int fd) {
  const std::unique_ptr<void, void (*)(void*)> page(std::aligned_alloc(kProbeSize, kProbeSize),
                                                    &std::free);
  if (!page) return ENOMEM;
  if (pread(fd, page.get(), kProbeSize, 0) >= 0) return 0;
  return errno == EBADF ? 0 : errno;  // EBADF: opened for writing only, nothing to learn
}

}  // namespace

int second_view_flags(int status_flags) {
  const int kept = status_flags & (O_ACCMODE | O_SYNC | O_DSYNC | O_NOATIME | O_APPEND);
  const int flipped = (status_flags & O_DIRECT) != 0 ? 0 : O_DIRECT;
  return kept | flipped | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
}

int read_only(int flags) {
  return (flags & O_ACCMODE) == O_RDWR ? (flags & ~O_ACCMODE) | O_RDONLY : flags;
}

SecondView open_second_view(int fd, const FileFacts& facts, Direction direction) {
  if (!facts.is_regular() && !facts.is_block_device()) return refused(hipFileExtViewFileType, 0);
  if (facts.is_path_only()) return refused(hipFileExtViewNoPermission, EBADF);
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int flags = second_view_flags(facts.status_flags);
  if (facts.is_block_device() && direction == Direction::kRead) flags = read_only(flags);
  const int opened = open(path, flags);
  if (opened < 0) {
    const int error = errno;
    struct stat link = {};
    return refused(reason_of(error, lstat(path, &link) == 0), error);
  }
  SecondView view;
  view.fd = UniqueFd(opened);
  if (!is_same_file(opened, facts)) {
    close_or_park(std::move(view.fd));
    return refused(hipFileExtViewChanged, 0);
  }
  const bool must_probe = (flags & O_DIRECT) != 0 && facts.direct.probed;
  if (const int error = must_probe ? probe_direct_read(opened) : 0) {
    close_or_park(std::move(view.fd));
    return refused(reason_of(error, true), error);
  }
  return view;
}

}  // namespace hipfile
