// SPDX-License-Identifier: MIT
//
// Staging and publication. A published configuration is kept for good and used again by an equal
// one, so a program that opens and closes for ever keeps as many as it has different ones.
#include "driver/configuration.h"

#include <algorithm>
#include <utility>

namespace hipfile {

Configuration::Configuration(Settings base) : base_(std::move(base)) { publish(base_); }

const Value& Configuration::get(int index) const {
  const std::optional<Value>& staged = staged_[static_cast<size_t>(index)];
  return staged ? *staged : settings_.at(index);
}

void Configuration::stage(int index, Value value) {
  staged_[static_cast<size_t>(index)] = std::move(value);
}

void Configuration::open() {
  Settings settings = base_;
  for (size_t at = 0; at < kParameterCount; ++at) {
    if (staged_[at]) settings.set(static_cast<int>(at), *staged_[at]);
  }
  publish(std::move(settings));
  staged_.fill(std::nullopt);
}

void Configuration::close() { publish(base_); }

void Configuration::drop(int index) {
  Settings settings = settings_;
  settings.set(index, Settings().at(index));
  publish(std::move(settings));
}

void Configuration::publish(Settings settings) {
  has_kept_path_ = keep_a_path(settings);
  const Config config = make_config(settings);
  auto known = std::find_if(known_.begin(), known_.end(),
                            [&config](const auto& other) { return *other == config; });
  if (known == known_.end()) {
    known_.push_back(std::make_unique<const Config>(config));
    known = known_.end() - 1;
  }
  settings_ = std::move(settings);
  in_force_.store(known->get(), std::memory_order_release);
}

}  // namespace hipfile
