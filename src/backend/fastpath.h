// SPDX-License-Identifier: MIT
//
// File to device memory and back by the runtime's hipAmdFileRead and hipAmdFileWrite: ROCm's kernel
// path on AMD, O_DIRECT into the working view of the memory on the emulated device. There what lies
// in the page cache is read from it, at the speed of memory instead of the disk's.
#pragma once

#include "backend/backend.h"
#include "backend/residency.h"
#include "gpu/gpu.h"

namespace hipfile {

class Fastpath : public Backend {
 public:
  Fastpath(Gpu& gpu) : gpu_(gpu) {}

  hipFileExtBackend_t id() const override { return hipFileExtBackendFastpath; }
  /// The eligibility rules of the specification (4.2), in the order in which people ask about them.
  hipFileExtRefusal_t refuses(const Request& request) const override;
  Outcome run(const Request& request) override;

  /// The stretches of a request that the fastpath takes: all of it past the cache, but on the
  /// emulated device.
  static std::vector<Stretch> views_of(const Request& request);

 private:
  Outcome run_stretch(const Request& request, bool is_direct);

  Gpu& gpu_;
};

}  // namespace hipfile
