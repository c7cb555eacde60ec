// SPDX-License-Identifier: MIT
//
// Where messages go: one function, with spdlog and without it.
#pragma once

#include "util/log.h"

namespace hipfile {

/// Writes one line to standard error, or drops it. Any thread; throws nothing.
void write_log_line(LogLevel level, const char* text);

}  // namespace hipfile
