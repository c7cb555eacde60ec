// SPDX-License-Identifier: MIT
//
// The life of the parameters: what file and environment say, what the program stages while the
// library is closed, what is in force from open to close.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "driver/config.h"
#include "driver/parameters.h"

namespace hipfile {

/// Changed under the mutex of its owner; in_force() is one load on any thread.
class Configuration {
 public:
  /// @param base what holds where the program says nothing: defaults, file, environment
  explicit Configuration(Settings base);

  /// The configuration of the open library, or the base of the closed one. The reference holds for
  /// ever: a request that runs meets what was in force when it began.
  const Config& in_force() const { return *in_force_.load(std::memory_order_acquire); }
  /// The parameters of the same.
  const Settings& settings() const { return settings_; }
  /// True if compat mode was forced and not allowed, and stays allowed.
  bool has_kept_path() const { return has_kept_path_; }

  /// What a Get answers: while closed the staged value goes before the base.
  const Value& get(int index) const;
  /// Keep a value for the next open. Closed only.
  void stage(int index, Value value);
  /// Apply what is staged, and clear the staging.
  void open();
  /// Drop what was applied.
  void close();
  /// A value that turned out to be of no use goes back to its default.
  void drop(int index);

 private:
  void publish(Settings settings);

  const Settings base_;
  Settings settings_;
  std::array<std::optional<Value>, kParameterCount> staged_;
  /// All that were ever published, each once: readers hold no count on them.
  std::vector<std::unique_ptr<const Config>> known_;
  std::atomic<const Config*> in_force_{nullptr};
  bool has_kept_path_ = false;
};

}  // namespace hipfile
