// SPDX-License-Identifier: MIT
// Patterns are made eight bytes at a time from a mixed counter: 100 MiB take a fraction of a
// second. Stored as one word, else the sanitizers look at each byte.
#include "pattern.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace hipfile::test {
namespace {

uint64_t word_of(uint64_t seed, uint64_t index) {
  uint64_t x = (index + 1) * 0x9e3779b97f4a7c15ULL ^ (seed * 0xd1342543de82ef95ULL + 0x632be5ab);
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 32);
}

}  // namespace

uint8_t pattern_byte(uint64_t seed, uint64_t position) {
  return static_cast<uint8_t>(word_of(seed, position / 8) >> (8 * (position % 8)));
}

void fill_pattern(void* data, size_t size, uint64_t seed, uint64_t position) {
  uint8_t* out = static_cast<uint8_t*>(data);
  size_t done = 0;
  while (done < size && (position + done) % 8 != 0) {
    out[done] = pattern_byte(seed, position + done);
    ++done;
  }
  for (; size - done >= 8; done += 8) {
    const uint64_t word = word_of(seed, (position + done) / 8);  // little-endian, as pattern_byte
    std::memcpy(out + done, &word, sizeof word);
  }
  for (; done < size; ++done) out[done] = pattern_byte(seed, position + done);
}

std::vector<uint8_t> make_pattern(size_t size, uint64_t seed, uint64_t position) {
  std::vector<uint8_t> bytes(size);
  fill_pattern(bytes.data(), size, seed, position);
  return bytes;
}

std::string first_difference(const std::vector<uint8_t>& actual,
                             const std::vector<uint8_t>& expected) {
  char text[120];
  const size_t common = std::min(actual.size(), expected.size());
  if (common == 0 || std::memcmp(actual.data(), expected.data(), common) != 0) {
    for (size_t i = 0; i < common; ++i) {
      if (actual[i] == expected[i]) continue;
      std::snprintf(text, sizeof text, "byte %zu of %zu is 0x%02x, not 0x%02x", i, common,
                    actual[i], expected[i]);
      return text;
    }
  }
  if (actual.size() == expected.size()) return "";
  std::snprintf(text, sizeof text, "%zu bytes, not %zu", actual.size(), expected.size());
  return text;
}

}  // namespace hipfile::test
