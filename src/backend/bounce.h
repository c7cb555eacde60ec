// SPDX-License-Identifier: MIT
//
// File to pinned ring to device memory, and back: the path of every device-memory request that
// cannot go direct.
#pragma once

#include "backend/backend.h"
#include "backend/bounce_pipeline.h"
#include "backend/residency.h"
#include "engine/engine.h"
#include "gpu/gpu.h"
#include "gpu/pinned_ring.h"

namespace hipfile {

class Bounce : public Backend {
 public:
  Bounce(Gpu& gpu, PinnedRing& ring, const EngineChoice& engines)
      : gpu_(gpu), ring_(ring), engines_(engines) {}

  hipFileExtBackend_t id() const override { return hipFileExtBackendBounce; }
  hipFileExtRefusal_t refuses(const Request& request) const override;
  Outcome run(const Request& request) override;

 private:
  Outcome run_stretch(const Request& request, bool is_direct);
  /// Up to 64 KiB: everything on the calling thread, in its cached slot.
  Outcome read_small(const Request& request, bool is_direct);
  Outcome write_small(const Request& request, bool is_direct);
  /// A direct write that is off the alignment: direct middle first, then buffered edges (rule 21).
  Outcome write_split(const Request& request);
  /// Several chunks in flight, through one view.
  Outcome run_chunks(const Request& request, bool is_direct);
  Result<StreamLease> lease_stream(const Request& request);
  std::unique_ptr<IoQueue> open_queue(const Request& request, bool is_direct, unsigned most);

  Gpu& gpu_;
  PinnedRing& ring_;
  const EngineChoice& engines_;
  ReaderCrowd crowd_;
};

}  // namespace hipfile
