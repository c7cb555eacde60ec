// SPDX-License-Identifier: MIT
//
// A bit map over the device's memory, and the calls that take and return its pages.

#include "residency.h"

#include <algorithm>
#include <bit>

namespace hip_portable::emulated {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t round_down(std::size_t value, std::size_t unit) { return value & ~(unit - 1); }
std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace

Residency::Residency(const DoubleMapping& mapping)
    : mapping_(mapping), words_(std::make_unique<Word[]>(mapping.size() / kStep + 1)) {}

template <typename Each>
void Residency::for_steps(Extent part, Each each) {
  for (std::size_t at = part.start; at < part.end();) {
    const std::size_t index = at / kStep;
    const std::size_t end = std::min(part.end(), (index + 1) * kStep);
    const std::size_t first = at % kStep / kUnit;
    const std::size_t last = (end - 1) % kStep / kUnit;
    const std::uint32_t mask = (~std::uint32_t{0} >> (kUnitsOfStep - 1 - (last - first))) << first;
    each(index, mask, Extent{at, end - at});
    at = end;
  }
}

void Residency::populate(Extent part) const {
  const std::size_t start = round_down(part.start, kPage);
  mapping_.populate(mapping_.program() + start, round_up(part.end(), kPage) - start);
}

void Residency::touch(Extent part, Extent block) {
  for_steps(part, [&](std::size_t index, std::uint32_t needed, Extent) {
    if ((words_[index].load(std::memory_order_acquire) & needed) == needed) return;
    const std::size_t start = std::max(index * kStep, block.start);
    const std::size_t end = std::min((index + 1) * kStep, block.end());
    for_steps({start, end - start}, [&](std::size_t, std::uint32_t all, Extent whole) {
      populate(whole);
      words_[index].fetch_or(all, std::memory_order_release);
    });
  });
}

Extent Residency::whole_units(Extent part, Extent outer) {
  const std::size_t start = std::max(round_down(part.start, kUnit), round_up(outer.start, kUnit));
  const std::size_t end = std::min(round_up(part.end(), kUnit), round_down(outer.end(), kUnit));
  return {start, end > start ? end - start : 0};
}

std::size_t Residency::touched(Extent units) const {
  std::size_t count = 0;
  for_steps(units, [&](std::size_t index, std::uint32_t mask, Extent) {
    const std::uint32_t word = words_[index].load(std::memory_order_relaxed);
    count += static_cast<std::size_t>(std::popcount(word & mask));
  });
  return count * kUnit;
}

void Residency::discard(Extent units) {
  if (units.size == 0) return;
  mapping_.discard(mapping_.program() + units.start, units.size);
  for_steps(units, [&](std::size_t index, std::uint32_t mask, Extent) {
    words_[index].fetch_and(~mask, std::memory_order_relaxed);
  });
}

void Residency::discard_untouched(Extent units) {
  std::size_t start = units.start;
  const auto flush = [&](std::size_t end) {
    if (end > start) mapping_.discard(mapping_.program() + start, end - start);
  };
  for_steps(units, [&](std::size_t index, std::uint32_t mask, Extent step) {
    const std::uint32_t word = words_[index].load(std::memory_order_relaxed) & mask;
    if (word == 0) return;
    for (std::size_t at = step.start; at < step.end(); at += kUnit) {
      if (((word >> (at % kStep / kUnit)) & 1U) == 0) continue;
      flush(at);
      start = at + kUnit;
    }
  });
  flush(units.end());
}

}  // namespace hip_portable::emulated
