// SPDX-License-Identifier: MIT
//
// Whether an old file may be replaced by a new one of its name, or must be overwritten in place.
#pragma once

#include <sys/stat.h>

#include <string>

namespace aiscp {

/// Why NAME in `directory`, which is the file `old`, must be overwritten in place; NULL if it may
/// be replaced. `old_fd`: open for reading only, or -1 if that was refused. No descriptor of ours
/// that can write may be open on the file.
const char* why_in_place(int directory, const std::string& name, const struct stat& old,
                         int old_fd);

/// True if a process has the file open for writing, or if that cannot be found out.
bool may_be_open_for_writing(int read_fd);

}  // namespace aiscp
