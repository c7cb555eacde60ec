// SPDX-License-Identifier: MIT
// The C consumer, compiled as C++.
#include "roundtrip.c"
