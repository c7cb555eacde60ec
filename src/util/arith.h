// SPDX-License-Identifier: MIT
//
// Alignment and overflow. Alignments are powers of two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipfile {

constexpr bool is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

constexpr bool is_aligned(uint64_t value, uint64_t alignment) {
  return alignment != 0 && (value & (alignment - 1)) == 0;
}

constexpr uint64_t align_down(uint64_t value, uint64_t alignment) {
  return alignment == 0 ? value : value & ~(alignment - 1);
}

/// Wraps around at the top of the range: callers bound `value` by a file offset, which is signed.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return alignment == 0 ? value : (value + alignment - 1) & ~(alignment - 1);
}

constexpr bool add_overflows(uint64_t a, uint64_t b) { return a + b < a; }

/// a * b / c, exact in between; 0 if c is 0.
inline uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c) {
  __extension__ typedef unsigned __int128 Wide;
  return c == 0 ? 0 : static_cast<uint64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace hipfile
