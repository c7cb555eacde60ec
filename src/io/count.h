// SPDX-License-Identifier: MIT
//
// What a finished request adds to the statistics. The synchronous path, async and batch all count
// here, once for each request and after it has ended.
#pragma once

#include "io/plan.h"
#include "util/statistics.h"

namespace hipfile {

/// The plan must be the one that ran last: after a failover, that of the backend that took over.
/// The request counts for the backend that ran its middle, else for the one that ran it whole, and
/// for the device that owns the memory; the bytes count for the backend that moved each.
/// @param begun_ns  Statistics::now() when the call began (for async: when the stream reached it)
void count_request(Statistics& statistics, const Plan& plan, const Request& request,
                   const Outcome& outcome, uint64_t begun_ns);

/// A request that ended before a backend was asked: of size 0 (ok), or refused.
void count_without_backend(Statistics& statistics, Direction direction, bool is_ok);

/// A buffer whose memory is known was registered (or that failed), or released.
void count_registered(Statistics& statistics, const Memory& memory, bool is_ok);
void count_released(Statistics& statistics, const Memory& memory);

/// Once for each device, while the caller may make a HIP call: remembers its uuid for level 3. One
/// load when it is known.
void note_device(Statistics& statistics, const Memory& memory);

/// For batches. Submit and completion times go to the latency sums; `is_ok` counts the operation.
void count_batch_submit(Statistics& statistics, bool is_ok, uint64_t begun_ns);
void count_batch_completion(Statistics& statistics, bool is_ok, uint64_t begun_ns,
                            uint64_t read_bytes, uint64_t write_bytes);
// The plain counters of a batch: statistics.count(stats::kBatchSetup, is_ok), and so on for
// kBatchCancel, kBatchDestroy, kBatchEnqueued, kBatchPosixEnqueued (requests not for the fastpath),
// kBatchProcessed, kBatchPosixProcessed, kBatchNvfsSubmit (batches of fastpath requests only),
// kBatchP2pSubmit, kBatchAioSubmit, kBatchIouringSubmit, kBatchMixedIoSubmit (reads and writes) and
// kBatchTotalSubmit (requests).

}  // namespace hipfile
