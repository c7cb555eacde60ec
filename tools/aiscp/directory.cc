// SPDX-License-Identifier: MIT
#include "directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

namespace aiscp {
namespace {

constexpr int kMostLinks = 40;  // as the kernel allows

std::string read_acl(int fd) {
  std::string acl(64 << 10, '\0');
  const ssize_t n = ::fgetxattr(fd, "system.posix_acl_access", acl.data(), acl.size());
  acl.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return acl;
}

/// Makes an empty hidden file. Negative errno on failure.
int make_hidden(int directory, mode_t mode, std::string* name) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    *name = hidden_name();
    const int fd = ::openat(directory, name->c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0) return fd;
    if (errno != EEXIST) return -errno;
  }
  return -EEXIST;
}

}  // namespace

int Directory::probe_mode(mode_t bits, NewFileMode* mode) {
  const auto known = modes_.find(bits);
  if (known != modes_.end()) {
    *mode = known->second;
    return 0;
  }
  std::string name;
  const int made = make_hidden(fd(), bits, &name);
  if (made < 0) return -made;
  const hipfile::UniqueFd file(made);
  struct stat st {};
  int error = ::fstat(file.get(), &st) == 0 ? 0 : errno;
  mode->mode = st.st_mode & 07777;
  mode->acl = read_acl(file.get());
  if (!is_probed_) probe_named(&name);
  if (::unlinkat(fd(), name.c_str(), 0) != 0 && error == 0) error = errno;
  if (error != 0) return error;
  if (!is_probed_) probe_unnamed();
  is_probed_ = true;
  modes_[bits] = *mode;
  return 0;
}

void Directory::probe_named(std::string* name) {
  const std::string other = hidden_name();
  can_rename_noreplace_ = rename_noreplace(fd(), *name, other) == 0;
  if (can_rename_noreplace_) {
    *name = other;
  } else if (::linkat(fd(), name->c_str(), fd(), other.c_str(), 0) == 0) {
    can_link_named_ = ::unlinkat(fd(), other.c_str(), 0) == 0;
  }
}

void Directory::probe_unnamed() {
  const hipfile::UniqueFd file(::openat(fd(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return;
  const std::string name = hidden_name();
  if (link_unnamed(file.get(), fd(), name) != 0) return;
  can_link_unnamed_ = ::unlinkat(fd(), name.c_str(), 0) == 0;
}

int Directory::sync() const {
  const hipfile::UniqueFd list(::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!list) return errno;
  if (::fsync(list.get()) == 0 || errno == EINVAL) return 0;  // EINVAL: it has nothing to flush
  return errno;
}

Directory* Directories::open(const std::string& path) {
  hipfile::UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return nullptr;
  std::unique_ptr<Directory>& slot = known_[{st.st_dev, st.st_ino}];
  if (!slot) slot = std::make_unique<Directory>(std::move(fd));
  return slot.get();
}

std::string hidden_name() {
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyz012345";
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
    static uint64_t count = 0;  // O_EXCL decides; a guessable name is only tried again
    random = (static_cast<uint64_t>(::getpid()) << 20) + ++count;
  }
  std::string name = ".aiscp-";
  for (int i = 0; i < 8; ++i, random >>= 5) name.push_back(kLetters[random & 31]);
  return name;
}

int link_unnamed(int fd, int directory, const std::string& name) {
  // By /proc first: the other way needs a capability before Linux 6.10.
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  if (::linkat(AT_FDCWD, self.c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  const int error = errno;
  if (error != ENOENT) return error;
  return ::linkat(fd, "", directory, name.c_str(), AT_EMPTY_PATH) == 0 ? 0 : errno;
}

int rename_noreplace(int directory, const std::string& from, const std::string& to) {
  const long result = ::syscall(SYS_renameat2, directory, from.c_str(), directory, to.c_str(),
                                RENAME_NOREPLACE);
  return result == 0 ? 0 : errno;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {".", path};
  const size_t end = path.find_last_not_of('/', slash);
  return {end == std::string::npos ? "/" : path.substr(0, end + 1), path.substr(slash + 1)};
}

std::string resolve_last_component(std::string path) {
  for (int i = 0; i <= kMostLinks; ++i) {
    char target[PATH_MAX];
    const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    if (n < 0) return path;  // no link, or nothing there
    const std::string next(target, static_cast<size_t>(n));
    path = next.starts_with('/') ? next : split_path(path).first + "/" + next;
  }
  errno = ELOOP;
  return {};
}

}  // namespace aiscp
