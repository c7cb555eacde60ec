// SPDX-License-Identifier: MIT
// The public headers compile alone as C11, and give C11 programs the layouts of the interface.
#include <hipfile.h>

#include <hipfile-api-trace.h>
#include <hipfile_ext.h>
#include <stddef.h>

#define LAYOUT_ASSERT(condition) _Static_assert(condition, #condition)
#include "header_layout.inc"
