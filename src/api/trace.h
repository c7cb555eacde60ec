// SPDX-License-Identifier: MIT
//
// The one table through which every exported function goes (hipfile-api-trace.h), and the ranges
// for timelines. When nobody listens a call costs two loads from lines that nobody writes.
#pragma once

#include <hipfile-api-trace.h>

#include <atomic>
#include <cstdint>

#include "util/ranges.h"

namespace hipfile::trace {

/// A profiler may write to it at any time, pointer by pointer.
extern hipFileDispatchTable g_table;

/// Offers the table to rocprofiler-register, once in the life of the process. Never waits: whoever
/// comes while a profiler is at work on the table, the profiler itself included, goes on.
void announce();

/// Call the entry behind an exported function `name`.
template <auto Member, class... Arguments>
auto call(const char* name, Arguments... arguments) {
  uint32_t attention = g_attention.load(std::memory_order_relaxed);
  if (attention & kUnannounced) {
    announce();
    attention = g_attention.load(std::memory_order_relaxed);
  }
  const auto entry = __atomic_load_n(&(g_table.*Member), __ATOMIC_RELAXED);
  if (!(attention & kRanges)) return entry(arguments...);
  const Range range(name);
  return entry(arguments...);
}

}  // namespace hipfile::trace
