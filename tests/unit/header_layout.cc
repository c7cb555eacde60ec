// SPDX-License-Identifier: MIT
// The public headers compile alone as C++17, and give C++17 programs the layouts of the interface.
#include <hipfile.h>

#include <hipfile-api-trace.h>
#include <hipfile_ext.h>

#include <cstddef>

#define LAYOUT_ASSERT(condition) static_assert(condition, #condition)
#include "header_layout.inc"
