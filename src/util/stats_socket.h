// SPDX-License-Identifier: MIT
//
// How a program that ais-stats started hands over its counters. The variable names a descriptor, a
// socket that the program inherited; each process of it that counts sends its memory file there, so
// that even one that lives for a millisecond is seen.
#pragma once

namespace hipfile::stats {

constexpr char kSocketVariable[] = "HIPFILE_STATS_SOCKET";

/// Sends `fd` to whoever started the program with kSocketVariable set. Never waits; nothing happens
/// where there is no such socket, or its maker is neither of our user nor root.
void offer_to_launcher(int fd);

/// The next descriptor that was sent, or -1 if there is none.
int receive_offered(int socket);

}  // namespace hipfile::stats
