// SPDX-License-Identifier: MIT
//
// File to host memory and back: plain, pinned and managed memory, with system calls straight into
// it.
#pragma once

#include "backend/backend.h"
#include "backend/options.h"
#include "engine/engine.h"

namespace hipfile {

class Host : public Backend {
 public:
  Host(const BackendOptions& options, const EngineChoice& engines)
      : options_(options), engines_(engines) {}

  hipFileExtBackend_t id() const override { return hipFileExtBackendHost; }
  hipFileExtRefusal_t refuses(const Request& request) const override;
  Outcome run(const Request& request) override;

 private:
  Outcome run_direct(const Request& request);
  Outcome run_buffered(const Request& request);
  Outcome run_in_chunks(const Request& request, int fd, Engine& engine);

  const BackendOptions options_;
  const EngineChoice& engines_;
};

}  // namespace hipfile
