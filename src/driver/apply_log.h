// SPDX-License-Identifier: MIT
//
// Where the log goes, by the parameters.
#pragma once

#include "driver/parameters.h"

namespace hipfile {

/// Sets level and file: EnvLogfilePath, else LogDir/hipfile_PID.log, else standard error. False if
/// LogDir is set and no directory; it then counts as empty.
bool apply_log(const Settings& settings);

}  // namespace hipfile
