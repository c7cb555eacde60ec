// SPDX-License-Identifier: MIT
//
// Closing descriptors without losing record locks.
//
// POSIX (fcntl(2), "Record locks"): closing any descriptor of a file drops every record lock that
// the process holds on that file, through whichever descriptor it was taken. A library that closes
// a duplicate would silently unlock its client's data base. So a descriptor of a file on which a
// POSIX lock is seen is parked, and closed when none is left.
#pragma once

#include "util/unique_fd.h"

namespace hipfile {

/// True if a POSIX record lock, of this process or another, lies on the file behind `fd`.
/// F_OFD_GETLK shows those of our own process too, since an OFD lock conflicts with them.
bool has_record_lock(int fd);

/// Close `fd` now, or park it while has_record_lock() says so. Any thread.
void close_or_park(UniqueFd fd);

/// Close the parked descriptors whose files have no record lock any more. Called at registration
/// and deregistration, so that parked descriptors do not pile up.
void sweep_parked();

/// Number of parked descriptors.
int parked_count();

}  // namespace hipfile
