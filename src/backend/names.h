// SPDX-License-Identifier: MIT
//
// The names of backends, refusals and view reasons: one table each, shared by log, tools and tests.
#pragma once

#include <hipfile_ext.h>

namespace hipfile {

const char* name_of(hipFileExtBackend_t backend);
const char* name_of(hipFileExtRefusal_t refusal);
const char* name_of(hipFileExtViewReason_t reason);

}  // namespace hipfile
