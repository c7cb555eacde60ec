// SPDX-License-Identifier: MIT
//
// Where messages go: one function, with spdlog and without it.
#pragma once

#include "util/log.h"

namespace hipfile {

/// Writes one line to a descriptor, or drops it. Any thread; throws nothing. Lines of a file bear
/// time, process and thread.
void write_log_line(int fd, LogLevel level, const char* text);

}  // namespace hipfile
