// SPDX-License-Identifier: MIT
//
// One piece of a file to and from a piece of host memory that the caller gives, with plain system
// calls on the calling thread: what small requests, and the chunks of queued ones, consist of.
#pragma once

#include "backend/backend.h"

namespace hipfile {

/// Room beside the bytes themselves, so that a direct read can be aligned outwards.
constexpr size_t kStagingSlack = 2 * 4096;

/// A descriptor of the file for a direction: the view that is wanted, else the client's own.
int view_of(const Request& request, bool is_direct);
/// The turns of buffered writes of the request's file (rule 25).
std::shared_ptr<Turns> turns_of(const Request& request, const EngineChoice& engines);
/// True if the request may go through the direct view as it is.
bool is_aligned_request(const Request& request);
/// True if a direct read of the request fits into its size and kStagingSlack.
bool fits_staging(const Request& request);

/// What a read left in the staging.
struct Staged {
  char* data = nullptr;  ///< where the first wanted byte lies
  size_t size = 0;       ///< bytes that arrived; fewer than wanted at the end of the file
  Error error = Error::of(hipFileSuccess);
};

/// Read the range of `request` into `staging`, which has room for it and kStagingSlack; aligned
/// outwards on the direct view. The request's own address is not looked at.
Staged read_staged(const Request& request, bool is_direct, char* staging);

/// Write `staging`, the bytes of `request`, to the file. On the direct view the request is aligned.
Outcome write_staged(const Request& request, bool is_direct, char* staging);

}  // namespace hipfile
