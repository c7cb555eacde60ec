// SPDX-License-Identifier: MIT
//
// The walk over the backends, and the split of a request whose middle alone is aligned.
#include "io/plan.h"

#include <algorithm>

namespace hipfile {
namespace {

// Below this a middle of its own costs more (three system calls for one) than it saves.
constexpr size_t kSmallestMiddle = 64 * 1024;

bool is_offset_or_size(hipFileExtRefusal_t refusal) {
  return refusal == hipFileExtRefusalUnalignedFileOffset ||
         refusal == hipFileExtRefusalUnalignedSize;
}

// If `backend` refuses only for the ends of the range, let it have the middle.
bool give_middle(Backend& backend, const Request& request, Plan& plan) {
  const size_t alignment = std::max<size_t>(direct_alignment(request), 4096);
  const Split split = split_at(request.file_offset, request.end(), alignment);
  if (!split.has_middle()) return false;
  if (static_cast<size_t>(split.middle_end - split.middle_begin) < kSmallestMiddle) return false;
  if (backend.refuses(request.part(split.middle_begin, split.middle_end)) !=
      hipFileExtRefusalNone) {
    return false;
  }
  plan.middle = &backend;
  plan.split = split;
  return true;
}

}  // namespace

Plan make_plan(const BackendList& backends, const Request& request, hipFileExtBackend_t skip) {
  Plan plan;
  for (const std::unique_ptr<Backend>& backend : backends) {
    hipFileExtRefusal_t& refusal = plan.refusals[backend->id()];
    refusal = backend->id() == skip ? hipFileExtRefusalFailedBefore : backend->refuses(request);
    if (plan.whole != nullptr) continue;  // only the reasons of the rest are wanted
    if (refusal == hipFileExtRefusalNone) {
      plan.whole = backend.get();
    } else if (plan.middle == nullptr && is_offset_or_size(refusal)) {
      give_middle(*backend, request, plan);
    }
  }
  if (plan.whole == nullptr) plan.middle = nullptr;  // nobody for the edges
  return plan;
}

}  // namespace hipfile
