// SPDX-License-Identifier: MIT
//
// Counts the bytes of a request that go past the page cache: what the fastpath takes, and the
// direct stretches of the rest, on files where direct means direct.
#include "io/describe.h"

#include <algorithm>

#include "backend/fastpath.h"
#include "backend/residency.h"
#include "util/arith.h"

namespace hipfile {
namespace {

// Host memory off the alignment goes through the cache as a whole; the ring is always aligned.
bool is_memory_aligned(const Request& part) {
  if (part.memory.is_device()) return true;
  const size_t alignment = part.file->facts().direct.memory_alignment;
  return is_aligned(reinterpret_cast<uintptr_t>(part.address), alignment);
}

size_t direct_bytes_of_fastpath(const Request& request) {
  size_t bytes = 0;
  for (const Stretch& stretch : Fastpath::views_of(request)) {
    if (stretch.is_direct) bytes += static_cast<size_t>(stretch.end - stretch.begin);
  }
  return bytes;
}

size_t direct_bytes_of(const Request& request) {
  const DirectFacts& direct = request.file->facts().direct;
  const bool is_true = request.is_read() ? direct.reads_direct : direct.writes_direct;
  if (!is_true || request.size == 0) return 0;
  size_t bytes = 0;
  for (const Stretch& stretch : choose_views(request)) {
    if (!stretch.is_direct) continue;
    const Split split = split_at(stretch.begin, stretch.end, direct_alignment(request));
    const Request middle = request.part(split.middle_begin, split.middle_end);
    if (is_memory_aligned(middle)) bytes += middle.size;
  }
  return bytes;
}

bool goes_fastpath(const Backend* backend) {
  return backend != nullptr && backend->id() == hipFileExtBackendFastpath;
}

}  // namespace

hipFileExtPath_t describe(const Plan& plan, const Request& request) {
  hipFileExtPath_t path = {};
  std::copy(std::begin(plan.refusals), std::end(plan.refusals), std::begin(path.refusals));
  if (!plan.is_accepted()) return path;
  path.backend = plan.whole->id();
  if (goes_fastpath(plan.whole)) {
    path.direct_bytes = direct_bytes_of_fastpath(request);
  } else if (goes_fastpath(plan.middle)) {
    path.direct_bytes =
        direct_bytes_of_fastpath(request.part(plan.split.middle_begin, plan.split.middle_end));
  } else {
    path.direct_bytes = direct_bytes_of(request);
  }
  const bool is_whole = path.direct_bytes == request.size && request.size != 0;
  path.caching = is_whole                 ? hipFileExtCachingDirect
                 : path.direct_bytes != 0 ? hipFileExtCachingMixed
                                          : hipFileExtCachingCache;
  return path;
}

}  // namespace hipfile
