// SPDX-License-Identifier: MIT
#include "file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure.h"

namespace ais_bench {
namespace {

constexpr size_t kDefaultSize = size_t{1} << 30;
constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kGrain = 4096;  // sizes are multiples of it, so that O_DIRECT takes them

// A nameless file, or one whose name is taken away at once where the file system has none.
int open_nameless(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  std::string name = directory + "/.ais-bench.XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0 && ::unlink(name.c_str()) != 0) fail_errno("cannot remove " + name, errno);
  return named;
}

}  // namespace

void fill_pattern(void* data, size_t size, uint64_t position) {
  auto* words = static_cast<uint64_t*>(data);
  for (size_t i = 0; i < size / sizeof *words; ++i) {
    const uint64_t x = (position / sizeof *words + i) * 0x9e3779b97f4a7c15;
    words[i] = x ^ (x >> 29);
  }
}

void read_fully(int fd, char* data, size_t size, off_t offset) {
  while (size > 0) {
    const ssize_t done = ::pread(fd, data, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_errno("cannot read the file", errno);
    if (done == 0) fail("the file has become shorter");
    data += done;
    size -= static_cast<size_t>(done);
    offset += done;
  }
}

void write_fully(int fd, const char* data, size_t size, off_t offset) {
  while (size > 0) {
    const ssize_t done = ::pwrite(fd, data, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_errno("cannot write the file", errno);
    data += done;
    size -= static_cast<size_t>(done);
    offset += done;
  }
}

File::File(const Options& options) {
  struct stat status {};
  if (::stat(options.path.c_str(), &status) != 0) fail_errno(options.path, errno);
  if (S_ISDIR(status.st_mode)) {
    make(options);
  } else {
    open_existing(options);
  }
  direct_ = hipfile::UniqueFd(
      ::open(path().c_str(), (may_write_ ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC));
  if (direct_.get() < 0 && errno != EINVAL) fail_errno("cannot open it with O_DIRECT", errno);
}

void File::make(const Options& options) {
  buffered_ = hipfile::UniqueFd(open_nameless(options.path));
  if (buffered_.get() < 0) fail_errno("cannot make a file in " + options.path, errno);
  size_ = (options.size != 0 ? options.size : kDefaultSize) / kGrain * kGrain;
  if (size_ == 0) fail("a size of at least 4096 is wanted");
  may_write_ = true;
  fill();
}

void File::open_existing(const Options& options) {
  may_write_ = options.may_overwrite;
  buffered_ =
      hipfile::UniqueFd(::open(options.path.c_str(), (may_write_ ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  struct stat status {};
  if (buffered_.get() < 0 || ::fstat(buffered_.get(), &status) != 0) {
    fail_errno("cannot open " + options.path, errno);
  }
  if (!S_ISREG(status.st_mode)) fail(options.path + " is neither a file nor a directory");
  const size_t there = static_cast<size_t>(status.st_size) / kGrain * kGrain;
  if (options.size > there) fail(options.path + " is shorter than --size");
  size_ = (options.size != 0 ? options.size : there) / kGrain * kGrain;
  if (size_ == 0) fail("a file of at least 4096 bytes is wanted");
}

void File::fill() const {
  std::vector<uint64_t> piece(std::min(kPiece, size_) / sizeof(uint64_t));
  auto* bytes = reinterpret_cast<char*>(piece.data());
  for (size_t at = 0; at < size_; at += kPiece) {
    const size_t size = std::min(kPiece, size_ - at);
    fill_pattern(bytes, size, at);
    write_fully(buffered(), bytes, size, static_cast<off_t>(at));
  }
  flush();
}

std::string File::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(buffered_.get());
}

std::string File::file_system() const {
  struct statfs status {};
  if (::fstatfs(buffered(), &status) != 0) return "unknown";
  switch (static_cast<unsigned long>(status.f_type)) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case TMPFS_MAGIC:
      return "tmpfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case NFS_SUPER_MAGIC:
      return "nfs";
    default:
      break;
  }
  char number[32];
  std::snprintf(number, sizeof number, "0x%lx", static_cast<unsigned long>(status.f_type));
  return number;
}

int File::descriptor(bool is_direct) const {
  if (is_direct && direct() < 0) fail("the file system refuses O_DIRECT");
  return is_direct ? direct() : buffered();
}

void File::stamp(unsigned run) {
  if (!may_write_) return;
  const char byte = static_cast<char>(run + 1);
  write_fully(buffered(), &byte, 1, static_cast<off_t>(size_t{run} * 4099 % size_));
}

void File::flush() const {
  if (::fdatasync(buffered()) != 0) fail_errno("cannot write the file back", errno);
}

void File::drop() const {
  const int error = ::posix_fadvise(buffered(), 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) fail_errno("cannot drop the file from the cache", error);
}

}  // namespace ais_bench
