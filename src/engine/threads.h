// SPDX-License-Identifier: MIT
//
// The thread engine: pread and pwrite on a pool.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace hipfile {

/// @param max_threads of the pool, which all queues share
std::unique_ptr<Engine> make_threads_engine(unsigned max_threads);

}  // namespace hipfile
