// SPDX-License-Identifier: MIT
//
// cachestat costs 1 µs per 32 MiB window here, so larger reads ask per window. It is blind on some
// file systems (overlay reports nothing cached even right after a read) and refused to those who do
// not own the file; then the client's flag decides. RWF_NOWAIT would be no probe: it starts
// readahead; mincore tells non-owners that everything is resident.
#include "backend/residency.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

namespace hipfile {
namespace {

constexpr off_t kWindow = 32 << 20;
constexpr size_t kSmallestProbed = 1 << 20;
constexpr off_t kPage = 4096;

// The kernel's layouts (linux/mman.h), which Debian 12's headers do not have.
struct CachestatRange {
  uint64_t offset, length;
};
struct Cachestat {
  uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

void append(std::vector<Stretch>& stretches, off_t begin, off_t end, bool is_direct) {
  if (!stretches.empty() && stretches.back().is_direct == is_direct) {
    stretches.back().end = end;
  } else {
    stretches.push_back({begin, end, is_direct});
  }
}

}  // namespace

bool count_cached_pages(int fd, off_t begin, off_t end, CacheCounts* counts) {
  CachestatRange range = {static_cast<uint64_t>(begin), static_cast<uint64_t>(end - begin)};
  Cachestat stat = {};
  if (syscall(SYS_cachestat, fd, &range, &stat, 0) != 0) return false;
  counts->cached = stat.cached;
  counts->dirty = stat.dirty + stat.writeback;
  return true;
}

std::vector<Stretch> choose_views(const Request& request, IfUnknown if_unknown) {
  File& file = *request.file;
  const off_t begin = request.file_offset;
  const off_t end = request.end();
  const DirectFacts& direct = file.facts().direct;
  const bool asks_always = if_unknown == IfUnknown::kDirect;
  const bool is_wanted = asks_always || file.client_is_direct();
  // A direct read goes to the end of its last block, which must be an offset too.
  const auto unit = static_cast<off_t>(direct_alignment(request));
  const bool has_whole_blocks = end <= std::numeric_limits<off_t>::max() - unit;
  if (!direct.possible() || !has_whole_blocks || file.direct_fd(request.direction) < 0) {
    return {{begin, end, false}};
  }
  const bool is_forced = request.options->force_direct;
  if (is_forced || file.buffered_fd(request.direction) < 0) return {{begin, end, true}};
  const bool is_worth_it = asks_always || request.size > kSmallestProbed;
  const bool can_ask =
      request.is_read() && direct.reads_direct && is_worth_it && file.facts().reports_residency;
  if (!can_ask) return {{begin, end, is_wanted}};

  std::vector<Stretch> stretches;
  for (off_t at = begin; at < end;) {
    const off_t next = std::min(end, (at / kWindow + 1) * kWindow);
    CacheCounts counts;
    bool is_direct = is_wanted;
    if (count_cached_pages(file.own_fd(), at, next, &counts)) {
      const auto pages = static_cast<uint64_t>((next - at + kPage - 1) / kPage);
      is_direct = counts.dirty == 0 && counts.cached * 2 < pages;
    }
    append(stretches, at, next, is_direct);
    at = next;
  }
  return stretches;
}

}  // namespace hipfile
