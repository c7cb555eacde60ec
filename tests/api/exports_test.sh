#!/bin/bash
# SPDX-License-Identifier: MIT
# The exported names of libhipfile.so: the 34 functions of the header, besides them only names that
# begin with hipFile, no version names; its SONAME; and no GPU library in DT_NEEDED.
#
#   exports_test.sh LIBRARY HEADER
set -u
library=$1 header=$2 failures=0
fail() { echo "failed: $*"; failures=$((failures + 1)); }

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
declared=$(tr '\n' ' ' <"$header" | grep -oE 'HIPFILE_API [^;(]*\(' | grep -oE 'hipFile[A-Za-z0-9]+\(' |
  tr -d '(' | sort -u)
count=$(echo "$declared" | wc -l)
[ "$count" -eq 34 ] || fail "the header declares $count functions, not 34"
missing=$(comm -23 <(echo "$declared") <(echo "$exported"))
[ -z "$missing" ] || fail "not exported: $missing"
other=$(echo "$exported" | grep -v '^hipFile')
[ -z "$other" ] || fail "exported: $other"
versioned=$(nm -D --defined-only --with-symbol-versions "$library" | grep '@')
[ -z "$versioned" ] || fail "versions: $versioned"

dynamic=$(readelf -d "$library")
echo "$dynamic" | grep -q 'SONAME.*\[libhipfile\.so\.0\]' || fail "the SONAME is not libhipfile.so.0"
needed=$(echo "$dynamic" | grep NEEDED | grep -vE '\[(libc|libm|libmount|ld-linux.*|libdl|libpthread)\.so')
if readelf -W --dyn-syms "$library" | grep -qE '__(asan|tsan)_'; then needed=""; fi
[ -z "$needed" ] || fail "needs: $needed"
exit $((failures > 0))
