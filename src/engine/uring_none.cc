// SPDX-License-Identifier: MIT
//
// In the place of uring.cc where the library is built without liburing.
#include <cerrno>

#include "engine/uring.h"

namespace hipfile {

int probe_uring() { return ENOTSUP; }

std::unique_ptr<Engine> make_uring_engine() { return nullptr; }

}  // namespace hipfile
