// SPDX-License-Identifier: MIT
#include "reserve.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "signals.h"

namespace aiscp {
namespace {

constexpr off_t kStep = off_t{1} << 30;  // so that a signal is noticed between two steps

bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EPERM;
}

/// 0, an errno, or EINTR when the user wants to stop.
int reserve_range(int fd, off_t begin, off_t end) {
  while (begin < end) {
    if (is_stopping()) return EINTR;
    const off_t size = std::min(kStep, end - begin);
    if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, begin, size) == 0) {
      begin += size;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// The next data extent at or after `position`; false if there is none.
bool next_extent(const Source& source, off_t position, off_t* begin, off_t* end) {
  if (position >= source.first.st_size) return false;
  *begin = position;
  *end = source.first.st_size;
  if (!source.knows_holes) return true;
  *begin = ::lseek(source.fd.get(), position, SEEK_DATA);
  if (*begin < 0 || *begin >= source.first.st_size) return false;
  const off_t hole = ::lseek(source.fd.get(), *begin, SEEK_HOLE);
  if (hole > *begin) *end = std::min(*end, hole);
  return true;
}

void undo(int fd, off_t size) {
  // The file is empty or was just truncated: nothing old can be punched.
  (void)::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
  (void)::ftruncate(fd, 0);  // frees blocks behind the end on most file systems
}

}  // namespace

Status reserve_room(const Source& source, int fd, const std::string& name) {
  if (!source.has_real_size()) return {};
  // Sparse in a way that its file system does not tell: how much it needs is not known.
  const bool is_sparse = source.first.st_blocks < source.first.st_size / 512;
  if (is_sparse && !source.knows_holes) return {};
  off_t begin = 0, end = 0;
  for (off_t position = 0; next_extent(source, position, &begin, &end); position = end) {
    const int error = reserve_range(fd, begin, end);
    if (error == 0) continue;
    if (is_unsupported(error)) return {};
    undo(fd, end);
    if (error == EINTR) return Status::interrupted();
    return Status::of_errno("error writing " + name, error);
  }
  return {};
}

}  // namespace aiscp
