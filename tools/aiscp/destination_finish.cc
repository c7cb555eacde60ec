// SPDX-License-Identifier: MIT
//
// The end of a copy, in an order that leaves no moment at which a wrong file bears the name: size,
// owner, attributes, mode and ACL, flush, name, directory.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "attributes.h"
#include "destination.h"
#include "replaceable.h"

namespace aiscp {

Status Destination::finish(uint64_t end, bool* must_redo) {
  *must_redo = false;
  if (Status status = set_size(end); !status.ok()) return status;
  file_
      .reset();  // its descriptors of the file would delay what a network file system does at close
  if (is_in_place()) return finish_in_place();

  if (int error = set_attributes(must_redo)) {
    return Status::of_errno("setting permissions for " + name_, error);
  }
  if (*must_redo) return {};
  if (Status status = flush(); !status.ok()) return status;
  const bool is_replacing = way_ == Way::kReplace;
  // Once more: somebody may have begun to write to it meanwhile.
  if (is_replacing && may_be_open_for_writing(old_fd_for_reading_.get())) {
    *must_redo = true;
    return {};
  }
  if (int error = new_file_.put_in_place()) {
    if (is_replacing &&
        (error == EACCES || error == EPERM || error == EBUSY || error == EXDEV)) {
      *must_redo = true;
      return {};
    }
    if (way_ == Way::kForced) return Status::of_errno("cannot remove " + name_, error);
    return create_failure(error);
  }
  if (wish_.options.wants_fsync) {
    if (int error = new_file_.directory()->sync()) {
      return Status::of_errno("error flushing the directory of " + name_, error);
    }
  }
  return {};
}

Status Destination::set_size(uint64_t end) {
  if (way_ == Way::kBlockDevice) return {};
  struct stat st {};
  if (::fstat(fd(), &st) != 0) return Status::of_errno("cannot fstat " + name_, errno);
  if (static_cast<uint64_t>(st.st_size) == end) return {};
  const bool is_longer = static_cast<uint64_t>(st.st_size) < end;
  if (::ftruncate(fd(), static_cast<off_t>(end)) == 0) return {};
  return Status::of_errno((is_longer ? "failed to extend " : "failed to truncate ") + name_, errno);
}

int Destination::set_attributes(bool* must_redo) {
  if (way_ == Way::kReplace) {
    *must_redo = !transfer_attributes(old_fd_for_reading_.get(), new_file_.fd());
    return 0;
  }
  return set_mode_and_acl(new_file_.fd(), mode_.mode, mode_.acl);
}

Status Destination::flush() {
  // Before a new file takes an old one's place its data is on the disk: after a power cut the old
  // or the new file is there, whole.
  int result = 0;
  if (wish_.options.wants_fsync) {
    result = ::fsync(fd());
  } else if (way_ != Way::kNew) {
    result = ::fdatasync(fd());
  }
  if (result == 0 || errno == EINVAL || errno == ENOSYS) return {};
  return Status::of_errno("error flushing " + name_, errno);
}

Status Destination::finish_in_place() {
  const bool is_device = way_ == Way::kBlockDevice;
  // A device's last close would write back as well, and keep errors to itself.
  if (wish_.options.wants_fsync || is_device) {
    if (::fsync(fd()) != 0 && errno != EINVAL) {
      return Status::of_errno("error flushing " + name_, errno);
    }
  }
  if (::close(old_fd_for_writing_.release()) == 0 || errno == EINTR) return {};
  return Status::failure("failed to close " + name_ + ": " + std::strerror(errno) + "; " +
                             name_ + " is incomplete",
                         errno);
}

}  // namespace aiscp
