// SPDX-License-Identifier: MIT
#include "new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace aiscp {

int NewFile::create(Directory* directory, const std::string& name, bool is_replacing) {
  directory_ = directory;
  name_ = name;
  is_replacing_ = is_replacing;
  if (directory->can_link_unnamed()) {
    fd_ = hipfile::UniqueFd(
        ::openat(directory->fd(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (fd_) kind_ = Kind::kUnnamed;
  }
  const bool can_move =
      is_replacing || directory->can_rename_noreplace() || directory->can_link_named();
  if (kind_ == Kind::kNone && can_move) {
    for (int attempt = 0; attempt < 16; ++attempt) {
      hidden_name_ = hidden_name();
      const int error = create_named(hidden_name_);
      if (error == 0) kind_ = Kind::kHidden;
      if (error != 0 && error != EEXIST) return error;
      if (error == 0) break;
    }
  } else if (kind_ == Kind::kNone) {
    if (int error = create_named(name)) return error;
    kind_ = Kind::kFinal;
  }
  if (kind_ == Kind::kNone) return EEXIST;
  return ::fstat(fd_.get(), &identity_) == 0 ? 0 : errno;
}

int NewFile::create_named(const std::string& name) {
  fd_ = hipfile::UniqueFd(::openat(directory_->fd(), name.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return fd_ ? 0 : errno;
}

int NewFile::put_in_place() {
  const int directory = directory_->fd();
  int error = 0;
  if (kind_ == Kind::kUnnamed && !is_replacing_) {
    error = link_unnamed(fd_.get(), directory, name_);
    if (error == 0) kind_ = Kind::kFinal;  // a failed close takes it away again
    if (error == 0) error = close_checked();
  } else {
    if (kind_ == Kind::kUnnamed) {
      hidden_name_ = hidden_name();
      error = link_unnamed(fd_.get(), directory, hidden_name_);
      if (error != 0) return error;
      kind_ = Kind::kHidden;
    }
    error = close_checked();  // before the rename: network file systems write back here
    if (error == 0 && kind_ == Kind::kHidden) {
      if (!is_replacing_) {
        error = move_to_free_name();
      } else if (::renameat(directory, hidden_name_.c_str(), directory, name_.c_str()) != 0) {
        error = errno;
      }
    }
  }
  if (error == 0) kind_ = Kind::kNone;
  return error;
}

int NewFile::move_to_free_name() {
  const int directory = directory_->fd();
  if (directory_->can_rename_noreplace()) return rename_noreplace(directory, hidden_name_, name_);
  if (::linkat(directory, hidden_name_.c_str(), directory, name_.c_str(), 0) != 0) return errno;
  return ::unlinkat(directory, hidden_name_.c_str(), 0) == 0 ? 0 : errno;
}

void NewFile::discard() {
  if (kind_ == Kind::kHidden) unlink_if_ours(hidden_name_);
  if (kind_ == Kind::kFinal) unlink_if_ours(name_);
  kind_ = Kind::kNone;
  fd_ = hipfile::UniqueFd();
}

int NewFile::close_checked() {
  if (!fd_) return 0;
  return ::close(fd_.release()) == 0 || errno == EINTR ? 0 : errno;
}

void NewFile::unlink_if_ours(const std::string& name) {
  struct stat st {};
  if (::fstatat(directory_->fd(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (st.st_dev != identity_.st_dev || st.st_ino != identity_.st_ino) return;
  (void)::unlinkat(directory_->fd(), name.c_str(), 0);
}

}  // namespace aiscp
