// SPDX-License-Identifier: MIT
//
// Which parts of a file lie in the page cache, so that those are read from there and the rest past
// it (rule 22).
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <vector>

#include "backend/backend.h"

namespace hipfile {

/// A stretch of a request that goes through one view.
struct Stretch {
  off_t begin = 0;
  off_t end = 0;
  bool is_direct = false;
};

/// Counters of cachestat(2), Linux 6.5, of a range in pages; false where it is refused or missing.
struct CacheCounts {
  uint64_t cached = 0;
  uint64_t dirty = 0;  ///< dirty or under writeback
};
bool count_cached_pages(int fd, off_t begin, off_t end, CacheCounts* counts);

/// What is done where nothing tells what is resident.
enum class IfUnknown {
  kAsOpened,  ///< the client's O_DIRECT flag decides, and that alone for requests up to 1 MiB
  kDirect,    ///< past the cache; requests of every size are asked for
};

/// Cut [begin, end) of the request's file into stretches for the direct and the buffered view.
/// Writes, and files of which the kernel does not tell, follow `if_unknown`. `begin` and `end` of a
/// direct stretch need not be aligned.
std::vector<Stretch> choose_views(const Request& request,
                                  IfUnknown if_unknown = IfUnknown::kAsOpened);

/// Run one stretch. Where the kernel refuses a direct transfer for its shape (EINVAL: an alignment
/// that it did not report, a write cut inside a block by RLIMIT_FSIZE), what is left of the stretch
/// goes through the cache.
template <class Run>
Outcome run_stretch(const Request& part, bool is_direct, Run&& run) {
  const Outcome outcome = run(part, is_direct);
  if (!is_direct || outcome.error.sys_errno != EINVAL) return outcome;
  const off_t reached = part.file_offset + static_cast<off_t>(outcome.done);
  Outcome rest = run(part.part(reached, part.end()), false);
  rest.done += outcome.done;
  return rest;
}

/// Run the stretches of a request one after the other, until one falls short.
template <class Run>
Outcome for_each_stretch(const Request& request, Run&& run) {
  Outcome total;
  for (const Stretch& stretch : choose_views(request)) {
    const Request part = request.part(stretch.begin, stretch.end);
    const Outcome outcome = run_stretch(part, stretch.is_direct, run);
    total.done += outcome.done;
    total.error = outcome.error;
    if (outcome.failed() || outcome.done < part.size) break;
  }
  return total;
}

}  // namespace hipfile
