// SPDX-License-Identifier: MIT
//
// The thread engine: pread and pwrite on a pool.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace hipfile {

/// @param pool which all queues share; lives as long as the process
std::unique_ptr<Engine> make_threads_engine(ThreadPool& pool);

}  // namespace hipfile
