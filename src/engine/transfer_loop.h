// SPDX-License-Identifier: MIT
//
// The one loop for EINTR, short transfers, the end of the file and partial progress. Every path
// that moves file bytes uses it.
#pragma once

#include "engine/engine.h"

namespace hipfile {

/// What follows after the kernel moved `result` bytes (or failed with -errno) of what was left of
/// an operation, of which `done` bytes are already through.
enum class NextStep { kContinue, kFinished };

/// Account for one kernel result. Pure. EINTR continues; 0 ends a read at the end of file and fails
/// a write with EIO; EAGAIN is an error like others, for the caller who will not wait any longer.
NextStep account(const IoOp& op, ssize_t result, IoDone* so_far);

/// The rest of an operation of which `done` bytes are through.
IoOp rest_of(const IoOp& op, size_t done);

/// Run an operation on the calling thread with pread and pwrite. A file that answers EAGAIN is
/// asked again for a second, asleep in between; then that is the error.
IoDone transfer_fully(const IoOp& op);

/// The same with no system call above `largest` bytes.
IoDone transfer_in_pieces(const IoOp& op, size_t largest);

}  // namespace hipfile
