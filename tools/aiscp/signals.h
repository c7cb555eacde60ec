// SPDX-License-Identifier: MIT
//
// Signals that end a copy. The first asks for an orderly end: the handler only notes it, the main
// thread cleans up and then dies by it, so that a shell sees it. The second ends at once.
#pragma once

namespace aiscp {

/// Takes INT, TERM and HUP (unless ignored at start), ignores XFSZ and IO. Before any thread.
void watch_signals();

/// For threads other than the main one: leaves all signals to it.
void block_signals_in_this_thread();

/// True once a signal came.
bool is_stopping();

/// Dies by the signal that came. Returns if none did.
void die_if_stopping();

}  // namespace aiscp
