// SPDX-License-Identifier: MIT
//
// What holds before the program says anything: defaults, then hipfile.json, then the environment.
#pragma once

#include "driver/parameters.h"

namespace hipfile {

/// Reads file and environment. The log is set up as they say, and then told what was wrong: a value
/// that does not fit is named, with file and line or its variable, and ignored; the rest holds.
Settings read_settings();

}  // namespace hipfile
