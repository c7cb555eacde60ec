// SPDX-License-Identifier: MIT
//
// The counters as text, in the form of AMD's ais-stats (version 1 of the report), and rates by wall
// clock after it.
#pragma once

#include <string>

#include "util/stats_layout.h"

namespace hipfile::stats {

/// Bytes per second between the first start and the last end; 0 if there is no time between them.
uint64_t per_second(uint64_t amount, const BasicSpan<uint64_t>& span);

/// The span of all places.
BasicSpan<uint64_t> whole_span(const Totals& totals, Way way);

/// The sum over places and sizes.
BasicCell<uint64_t> sum_of(const Totals& totals, Path path, Way way);
/// The sum over sizes.
BasicCell<uint64_t> sum_of(const Totals& totals, Path path, Way way, size_t place);

std::string make_report(const Header& header, const Totals& totals);

}  // namespace hipfile::stats
