// SPDX-License-Identifier: MIT
//
// NVTX 3, where the functions are not in a library but in every program that draws ranges: a
// profiler names a library of its own in NVTX_INJECTION64_PATH, and that fills in a table.
#pragma once

namespace hipfile::trace {

/// The two calls of a profiler that draw a range; both are set, or neither.
struct RangeFunctions {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};

/// Loads the library that NVTX_INJECTION64_PATH names and hands it our table of functions, as the
/// header of NVTX 3 does in the first call of a program. Empty without that variable, and where
/// the library does not take the table or draws no ranges. Call once per process; the library is
/// never closed.
RangeFunctions inject_nvtx();

}  // namespace hipfile::trace
