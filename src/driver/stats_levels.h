// SPDX-License-Identifier: MIT
//
// The sums of all counters in the words of hipfile.h. Pure.
#pragma once

#include <hipfile_ext.h>

#include "util/stats_layout.h"

namespace hipfile {

/// Each structure is overwritten as a whole.
void fill_level1(const stats::Totals& totals, hipFileStatsLevel1_t* level);
void fill_level2(const stats::Totals& totals, hipFileStatsLevel2_t* level);
/// @param header NULL where nothing was counted
void fill_level3(const stats::Totals& totals, const stats::Header* header,
                 hipFileStatsLevel3_t* level);
void fill_rates(const stats::Totals& totals, hipFileExtRates_t* rates);

}  // namespace hipfile
