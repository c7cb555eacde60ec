// SPDX-License-Identifier: MIT
//
// The devices that the bytes go through: chosen by --gpu, found through the loader, so that no
// runtime is linked.
#pragma once

#include <string>
#include <vector>

#include "gpu/loader.h"
#include "messages.h"
#include "options.h"

namespace aiscp {

class Device {
 public:
  /// --gpu=host and --direct=never work by environment variables. Before any thread and HIP call.
  static Status prepare_environment(const Options& options);

  /// Binds the runtime and checks the devices asked for. Once; later calls give the same answer.
  Status open(const Options& options);

  const hipfile::gpu::HipTable& hip() const { return runtime_->hip; }
  const std::vector<int>& ordinals() const { return ordinals_; }
  bool is_emulated() const { return is_emulated_; }
  /// Device memory to use in all, bytes.
  size_t memory_budget() const;
  /// For --stats: the name of the first device.
  std::string describe() const;
  /// "hipErrorX"
  std::string error_name(hipError_t error) const;

 private:
  Status bind(const Options& options);
  Status choose(const Options& options);
  /// A GPU that is there but was passed over, and why; empty if there is none.
  std::string unusable_gpu() const;
  void tell_choice(const Options& options) const;

  enum class State { kNew, kOpen, kFailed };
  State state_ = State::kNew;
  Status failure_;
  const hipfile::gpu::Runtime* runtime_ = nullptr;
  std::vector<int> ordinals_;
  bool is_emulated_ = false;
  bool is_automatic_ = true;
};

}  // namespace aiscp
