// SPDX-License-Identifier: MIT
//
// Opening: which of the ways it is. What comes at the end is in destination_finish.cc.
#include "destination.h"

#include <fcntl.h>

#include <cerrno>

#include "attributes.h"
#include "replaceable.h"
#include "source.h"

namespace aiscp {
namespace {

/// The directory does not let us make or rename files; the old file may still be written to.
bool is_refusal(int error) {
  return error == EACCES || error == EPERM || error == EBUSY || error == EXDEV || error == EROFS;
}

}  // namespace

Destination::Destination(const DestinationWish& wish) : wish_(wish), name_(quote(wish.path)) {}

Status Destination::create_failure(int error) const {
  return Status::of_errno("cannot create regular file " + name_, error);
}

Status Destination::open(Directories* directories) {
  Status status;
  if (wish_.old == nullptr) {
    status = open_new(directories);
  } else if (S_ISBLK(wish_.old->st_mode)) {
    status = open_block_device();
  } else {
    status = open_old(directories);
  }
  if (!status.ok()) return status;
  ask_for_direct(fd(), wish_.options.direct);
  return register_file();
}

Status Destination::open_new(Directories* directories) {
  way_ = Way::kNew;
  const auto [parent, base] = split_path(wish_.path);
  if (base.empty()) return create_failure(wish_.path.empty() ? ENOENT : ENOTDIR);
  Directory* directory = directories->open(parent);
  if (directory == nullptr) return create_failure(errno);
  if (int error = directory->probe_mode(wish_.source_mode & 0777, &mode_)) {
    return create_failure(error);
  }
  if (int error = new_file_.create(directory, base, false)) return create_failure(error);
  if (new_file_.has_final_name() && wish_.options.is_verbose) {
    complain(name_ + " is written under its own name: nothing else works in its directory");
  }
  return {};
}

Status Destination::open_block_device() {
  way_ = Way::kBlockDevice;
  // In use by a mount or another program: refused, unless -f.
  const int exclusive = wish_.options.is_forced ? 0 : O_EXCL;
  old_fd_for_writing_ =
      hipfile::UniqueFd(open_without_hanging(wish_.path.c_str(), O_WRONLY | exclusive));
  if (!old_fd_for_writing_) {
    return Status::of_errno("cannot open " + name_ + " for writing", errno);
  }
  return {};
}

Status Destination::open_old(Directories* directories) {
  if (wish_.must_be_in_place) return open_in_place("replacing it was refused");
  {
    // Without truncation: is writing allowed at all? Closed before anybody is asked whether the
    // file is open for writing.
    const hipfile::UniqueFd probe(open_without_hanging(wish_.path.c_str(), O_WRONLY));
    if (!probe) {
      const int error = errno;
      return wish_.options.is_forced ? open_forced(directories) : create_failure(error);
    }
  }
  if (wish_.options.is_in_place) return open_in_place("--inplace");
  return open_replacing(directories);
}

Status Destination::open_forced(Directories* directories) {
  way_ = Way::kForced;
  // As if the name had been removed first, whatever it led to; but it stays until the new file is
  // whole.
  const auto [parent, base] = split_path(wish_.path);
  Directory* directory = directories->open(parent);
  int error = directory == nullptr ? errno : 0;
  if (error == 0) error = directory->probe_mode(wish_.source_mode & 0777, &mode_);
  if (error == 0) error = new_file_.create(directory, base, true);
  return error == 0 ? Status() : Status::of_errno("cannot remove " + name_, error);
}

Status Destination::open_replacing(Directories* directories) {
  way_ = Way::kReplace;
  const std::string resolved = resolve_last_component(wish_.path);
  if (resolved.empty()) return create_failure(errno);
  const auto [parent, base] = split_path(resolved);
  Directory* directory = directories->open(parent);
  if (directory == nullptr || base.empty()) return open_in_place("its directory cannot be opened");
  old_fd_for_reading_ = hipfile::UniqueFd(open_without_hanging(wish_.path.c_str(), O_RDONLY));
  const char* reason =
      why_in_place(directory->fd(), base, *wish_.old, old_fd_for_reading_.get());
  if (reason != nullptr) return open_in_place(reason);

  int error = directory->probe_mode(0600, &mode_);
  if (error == 0) error = new_file_.create(directory, base, true);
  if (is_refusal(error)) return open_in_place("its directory takes no new files");
  if (error != 0) return explain(create_failure(error));
  // Tried while the file is empty: what cannot be given now cannot be given after a long copy.
  if (!transfer_attributes(old_fd_for_reading_.get(), new_file_.fd()) ||
      set_mode_and_acl(new_file_.fd(), 0600, "") != 0) {
    new_file_.discard();
    return open_in_place("a new file cannot be given its attributes");
  }
  return {};
}

Status Destination::open_in_place(const char* reason) {
  way_ = Way::kInPlace;
  in_place_reason_ = reason;
  old_fd_for_reading_ = hipfile::UniqueFd();
  old_fd_for_writing_ =
      hipfile::UniqueFd(open_without_hanging(wish_.path.c_str(), O_WRONLY | O_TRUNC));
  return old_fd_for_writing_ ? Status() : create_failure(errno);
}

Status Destination::register_file() {
  const Status status = file_.open(fd());
  if (!status.ok()) return Status::failure("cannot write " + name_ + ": " + status.text());
  if (wish_.options.direct == Direct::kAlways && file_.info().writes_direct == 0) {
    return Status::failure("cannot write " + name_ + " with O_DIRECT: " +
                           file_.why_not_direct());
  }
  return {};
}

Status Destination::explain(const Status& failure) const {
  if (failure.ok() || failure.is_interrupted()) return failure;
  if (is_in_place() && old_fd_for_writing_) {
    return Status::failure(failure.text() + "; " + name_ + " is incomplete", failure.error());
  }
  const bool is_full = failure.error() == ENOSPC || failure.error() == EDQUOT;
  if (way_ == Way::kReplace && is_full) {
    return Status::failure(
        failure.text() + "; the old file is kept (--inplace needs no room for both)",
        failure.error());
  }
  return failure;
}

bool Destination::discard() {
  file_.reset();
  new_file_.discard();
  return is_in_place() && old_fd_for_writing_;
}

}  // namespace aiscp
