// SPDX-License-Identifier: MIT
//
// The earliest shortfall wins, whichever chunk reported first.
#include "backend/progress.h"

namespace hipfile {

void Progress::note(size_t at, size_t wanted, size_t moved, const Error& error) {
  if (moved >= wanted) return;
  const size_t end = at + moved;
  if (is_stopped_ && end >= stop_) return;
  is_stopped_ = true;
  stop_ = end;
  error_ = error;
}

}  // namespace hipfile
