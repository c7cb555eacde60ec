// SPDX-License-Identifier: MIT
//
// The one global of the library, and the only folder that sees it.
#pragma once

#include "driver/driver.h"

namespace hipfile {

/// The driver of this process. Made at first use and leaked, so that exit handlers of the program
/// may still call. In a child of fork it is a fresh one: use count 0, no file, no buffer, and the
/// handles of the parent mean nothing to it (rule 33).
Driver& root();

/// Counts a registration or its end, and passes the result on.
hipFileError_t counted(stats::Op op, hipFileError_t result);

}  // namespace hipfile
