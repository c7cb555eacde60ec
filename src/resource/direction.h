// SPDX-License-Identifier: MIT
//
// Which way bytes go.
#pragma once

namespace hipfile {

enum class Direction { kRead, kWrite };

}  // namespace hipfile
