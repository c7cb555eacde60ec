// SPDX-License-Identifier: MIT
//
// What the machine can do without hipFile: the parts that bytes must pass one by one, and the same
// movement by hand.
#pragma once

#include "bench.h"

namespace ais_bench {

/// Copies of pinned memory over the link, one stream. kRead: to the device.
Work link_copy(Bench& bench, Way way);

/// File to pinned memory, or the other way round, no device: the fastest of threads and blocks.
Work file_alone(Bench& bench, Way way, bool is_direct);

/// The same calls without hipFile: pread into pinned memory and a copy, or the reverse.
Work by_hand(Bench& bench, Way way, bool is_direct, unsigned threads, size_t call);

/// The classic: one thread, 16 MiB of pageable memory, synchronous copies.
Work classic(Bench& bench, Way way);

/// The narrowest of link and file for the descriptor and cache of the options.
Work narrowest(Bench& bench, Way way);

/// All of them, measured.
std::vector<Figure> measure_ceilings(Bench& bench);

}  // namespace ais_bench
