// SPDX-License-Identifier: MIT
// Tests that draw at random: how often, and from which seed. The seed is printed, so that a failure
// can be had again: HIPFILE_TEST_SEED names it, HIPFILE_TEST_COUNT makes a run longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace hipfile::test {

inline uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : otherwise;
}

inline size_t random_run_count(size_t otherwise) {
  return number_from_environment("HIPFILE_TEST_COUNT", otherwise);
}

// A generator with a seed that is printed.
inline std::mt19937_64 random_run_generator() {
  const uint64_t seed = number_from_environment("HIPFILE_TEST_SEED", std::random_device{}());
  std::printf("HIPFILE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return std::mt19937_64(seed);
}

}  // namespace hipfile::test
