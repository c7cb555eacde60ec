// SPDX-License-Identifier: MIT
//
// The plan of a request in the words of hipfile_ext.h.
#pragma once

#include "io/plan.h"

namespace hipfile {

hipFileExtPath_t describe(const Plan& plan, const Request& request);

}  // namespace hipfile
