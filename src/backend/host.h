// SPDX-License-Identifier: MIT
//
// File to host memory and back: plain, pinned and managed memory, with system calls straight into
// it.
#pragma once

#include "backend/backend.h"
#include "engine/engine.h"

namespace hipfile {

class Host : public Backend {
 public:
  Host(const EngineChoice& engines) : engines_(engines) {}

  hipFileExtBackend_t id() const override { return hipFileExtBackendHost; }
  hipFileExtRefusal_t refuses(const Request& request) const override;
  Outcome run(const Request& request) override;
  std::optional<IoOp> as_one_operation(const Request& request) const override;

 private:
  Outcome run_direct(const Request& request);
  Outcome run_buffered(const Request& request);
  Outcome run_in_order(const Request& request, int fd);
  Outcome write_in_turn(const Request& request, int fd);
  Outcome run_in_chunks(const Request& request, int fd, Engine& engine);

  const EngineChoice& engines_;
};

}  // namespace hipfile
