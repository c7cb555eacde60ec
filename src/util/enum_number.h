// SPDX-License-Identifier: MIT
//
// Enumerations that callers in C fill.
#pragma once

#include <cstring>

namespace hipfile {

/// The number in an enumeration of the C interface. A caller in C may put any number there, and C++
/// must not load one that is no enumerator as the enumeration.
template <class Enum>
int number_of(const Enum& value) {
  int number = 0;
  static_assert(sizeof number == sizeof value);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace hipfile
