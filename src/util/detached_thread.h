// SPDX-License-Identifier: MIT
//
// Threads of the library (rule 32): all signals blocked, never joined, affinity and policy of the
// thread that starts them. A body names its own thread.
#pragma once

namespace hipfile {

/// Runs body(context) on a new thread. False if none can be had.
bool start_detached_thread(void* (*body)(void*), void* context);

}  // namespace hipfile
