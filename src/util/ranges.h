// SPDX-License-Identifier: MIT
//
// Ranges on the timelines of profilers: rocTX for AMD's, NVTX for NVIDIA's, whichever are there.
#pragma once

#include <atomic>
#include <cstdint>

namespace hipfile::trace {

/// What an exported function must do besides calling its entry; 0 when nobody listens.
enum Attention : uint32_t { kUnannounced = 1, kRanges = 2 };
extern std::atomic<uint32_t> g_attention;

/// Draw a range around every call from now on, or no more (hipFileParamProfileNvtx). Looks, when it
/// is first switched on, for librocprofiler-sdk-roctx or libroctx64, and for what
/// NVTX_INJECTION64_PATH names (NVTX 3) or else libnvToolsExt (NVTX 2): in the process first, then
/// by name. Without any of them nothing is drawn.
void set_ranges(bool is_on);

/// A range of the calling thread, for the life of this object. `errno` is left as it was.
class Range {
 public:
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace hipfile::trace
