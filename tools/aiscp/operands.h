// SPDX-License-Identifier: MIT
//
// From operands to pairs of source and destination, by cp's rules.
#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace aiscp {

struct CopyPair {
  std::string from;
  std::string to;
};

/// Fills in `pairs`. A value: the exit status of a command line that cannot be carried out.
std::optional<int> pair_operands(const Options& options, std::vector<CopyPair>* pairs);

}  // namespace aiscp
