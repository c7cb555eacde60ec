// SPDX-License-Identifier: MIT
//
// Giving a new file what the old one of its name had: owner, group, mode, ACL, extended attributes,
// security label and inode flags.
#pragma once

#include <sys/stat.h>

#include <string>

namespace aiscp {

/// Gives all of them to `new_fd`. False if one cannot be given: the old file is kept and
/// overwritten. Flags of an empty file (no copy on write) can only be set while it is empty: call
/// it before the data is there as well as afterwards. Set-id bits and capabilities go as a write
/// would make them.
bool transfer_attributes(int old_fd, int new_fd);

/// Gives permission bits and an ACL (or none, if empty). 0 or an errno.
int set_mode_and_acl(int fd, mode_t mode, const std::string& acl);

}  // namespace aiscp
