// SPDX-License-Identifier: MIT
//
// Opening a file a second time with O_DIRECT flipped, by /proc/self/fd/N.
#pragma once

#include <hipfile_ext.h>

#include "resource/direction.h"
#include "resource/file_facts.h"
#include "util/unique_fd.h"

namespace hipfile {

/// A second view, or why there is none.
struct SecondView {
  UniqueFd fd;
  hipFileExtViewReason_t reason = hipFileExtViewOk;
  int error = 0;  ///< the errno behind `reason`, or 0
};

/// The flags for the second view of a descriptor whose F_GETFL is `status_flags`. Pure. Only access
/// mode, O_SYNC, O_DSYNC, O_NOATIME and O_APPEND carry over: O_TMPFILE left in gives ENOTDIR, and
/// without O_NONBLOCK a leased file would block.
int second_view_flags(int status_flags);

/// The same for reading alone, from a descriptor that may read.
int read_only(int flags);

/// Open the second view of `fd`. Regular files and block devices only; never blocks, never fails
/// loudly: what cannot be opened has a reason.
/// A block device is opened for reading only unless the view is for writing.
SecondView open_second_view(int fd, const FileFacts& facts, Direction direction);

}  // namespace hipfile
