// SPDX-License-Identifier: MIT
//
// Ranges on the timelines of profilers: rocTX for AMD's, NVTX for NVIDIA's, whichever are there.
#pragma once

namespace hipfile::trace {

/// Looks for libroctx64 (or librocprofiler-sdk-roctx) and libnvToolsExt: in the process first, then
/// by name. Once; false if there is none.
bool find_range_functions();

/// A range of the calling thread, for the life of this object. `errno` is left as it was.
class Range {
 public:
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace hipfile::trace
