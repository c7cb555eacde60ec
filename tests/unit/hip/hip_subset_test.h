// SPDX-License-Identifier: MIT
//
// The table of hip_subset_test: a call with bad arguments and the error that it answers.
#pragma once

#include <vector>

#include "hip_test.h"

namespace hip_test {

struct BadCall {
  const char* name;
  hipError_t expected;
  hipError_t (*call)();
};

std::vector<BadCall> bad_calls_of_devices();
std::vector<BadCall> bad_calls_of_memory();
std::vector<BadCall> bad_calls_of_streams();

// What no call can have given out: nothing is ever mapped there, while higher up a sanitizer has
// memory of its own.
template <typename Handle>
Handle unknown() {
  return reinterpret_cast<Handle>(uintptr_t{0xbad0});
}
template <typename Handle>
Handle minus_one() {
  return reinterpret_cast<Handle>(~uintptr_t{0});
}

// A row for each error, of one function.
#define HIP_BAD(name, expected, ...)                    \
  BadCall {                                             \
#name, expected, [] { return (name)(__VA_ARGS__); } \
  }

}  // namespace hip_test
