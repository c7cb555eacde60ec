#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make_stub.sh NM RUNTIME OUTPUT: writes C source with every function that RUNTIME exports, each
# one a trap. It becomes the filter libamdhip64.so.N (cmake/install.cmake).
set -eu
{
  echo "/* Made from the names of the portable runtime. None of these bodies ever runs. */"
  "$1" -D --defined-only "$2" |
    awk '$2 ~ /^[TW]$/ { sub(/@.*/, "", $3); print "void " $3 "(void) { __builtin_trap(); }" }'
} > "$3.new"
grep -q "void hipMalloc(void)" "$3.new" ||
  { echo "make_stub: $2 exports no hipMalloc" >&2; exit 1; }
mv "$3.new" "$3"
