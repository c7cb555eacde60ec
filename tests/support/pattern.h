// SPDX-License-Identifier: MIT
// Test data: bytes that are a function of a seed and a position, so that any byte that lands in the
// wrong place, or comes from the wrong file, is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hipfile::test {

// The byte of pattern `seed` at `position`.
uint8_t pattern_byte(uint64_t seed, uint64_t position);

// Fills `size` bytes with pattern `seed` from `position` on.
void fill_pattern(void* data, size_t size, uint64_t seed, uint64_t position = 0);

std::vector<uint8_t> make_pattern(size_t size, uint64_t seed, uint64_t position = 0);

// Where `actual` first differs from `expected`, in words; empty when they are equal.
std::string first_difference(const std::vector<uint8_t>& actual,
                             const std::vector<uint8_t>& expected);

}  // namespace hipfile::test
