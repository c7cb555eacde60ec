#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The runtime exports exactly what its headers declare.
#
#   check_exports.sh C-COMPILER INCLUDE-FOLDER LIBRARY
set -eu
compiler=$1
include=$2
library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# hipGetDeviceProperties is a macro in the header and a symbol for programs that look it up by name;
# the hipAmdFile calls stand in no header, as with AMD's runtime.
{
  printf '#include <hip/hip_runtime.h>\n#include <hip/hip_portable.h>\n' |
    "$compiler" -E -P -I"$include" -xc - | grep -oE '\bhip[A-Za-z0-9]+ *\(' | tr -d ' ('
  echo hipGetDeviceProperties
  echo hipAmdFileRead
  echo hipAmdFileWrite
} | LC_ALL=C sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  LC_ALL=C sort -u >"$work/exported"
diff -u "$work/declared" "$work/exported"
echo "$(wc -l <"$work/exported") functions, all declared and all exported"
