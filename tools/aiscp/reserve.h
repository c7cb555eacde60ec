// SPDX-License-Identifier: MIT
//
// Room for the data, taken before the copy begins: a full disk is met at once and not at the end.
#pragma once

#include <string>

#include "source.h"

namespace aiscp {

/// Reserves blocks of `fd` for the data extents of `source`, none behind its last byte, without
/// changing the size. Undone on failure. Where it is not supported nothing is done.
Status reserve_room(const Source& source, int fd, const std::string& name);

}  // namespace aiscp
