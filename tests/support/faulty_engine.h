// SPDX-License-Identifier: MIT
// An engine for tests: another one behind a front that fails or shortens the Nth operation.
#pragma once

#include <atomic>
#include <memory>

#include "engine/engine.h"

namespace hipfile::test {

// Which operation, over all queues, and what becomes of it.
struct EngineFault {
  uint64_t nth = 0;         // 0: none
  int error = 0;            // errno; 0 (a read): as if the file ended there
  bool moves_half = false;  // half of it is moved before
  std::atomic<uint64_t> operations{0};

  bool has_fired() const { return nth != 0 && operations >= nth; }
};

// Puts the front before both engines. `fault` must outlive them.
EngineChoice make_faulty(EngineChoice choice, EngineFault* fault);

}  // namespace hipfile::test
