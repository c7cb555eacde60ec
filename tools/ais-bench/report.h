// SPDX-License-Identifier: MIT
//
// Figures as a table, which is Markdown too, or as JSON with every sample.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure.h"

namespace ais_bench {

/// What the figures belong to: pairs of a name and a value.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string table_of(const Facts& facts, const std::vector<Figure>& figures);
std::string json_of(const Facts& facts, const std::vector<Figure>& figures);

}  // namespace ais_bench
