// SPDX-License-Identifier: MIT
//
// The io_uring engine.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace hipfile {

/// Set up a ring, pass a NOP through it, and take it down again. 0, or the errno that stopped it
/// (ENOSYS: no such call; EPERM: forbidden, by seccomp or sysctl; ENOMEM: memlock; ENOTSUP: this
/// library was built without it).
int probe_uring();

std::unique_ptr<Engine> make_uring_engine();

}  // namespace hipfile
