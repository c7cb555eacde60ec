// SPDX-License-Identifier: MIT
//
// The kernel of the late-bound copy (indirect_copy.cu), as one context has it. Loading code waits
// for all work of the device and keeps other threads' copies out, so it is done when the context is
// first used, before any work of this runtime is in it.
#pragma once

#include <hip/hip_portable.h>

#include <atomic>
#include <cstdint>

#include "cuda_driver.h"

namespace hip_portable::cuda {

class CopyKernel {
 public:
  // All calls need the context to be current. Brings the code onto the device.
  Result load(const Driver& driver);
  // What load() answered.
  Result load_result() const { return load_result_; }
  // load_result(), where that was an error.
  Result launch(const Driver& driver, Stream stream, const hipPortableIndirectCopy_t* descriptor);

 private:
  Result queue(const Driver& driver, Stream stream, const hipPortableIndirectCopy_t* descriptor);
  Result run_once(const Driver& driver);

  Result load_result_ = kNotLoaded;
  Function function_ = nullptr;
  std::atomic<std::uint32_t> launches_{0};
};

}  // namespace hip_portable::cuda
