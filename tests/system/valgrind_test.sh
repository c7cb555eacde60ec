#!/bin/bash
# SPDX-License-Identifier: MIT
# valgrind finds nothing in a copy by each PROGRAM, and the copy is right.
#
#   valgrind_test.sh PROGRAM...
set -u
command -v valgrind >/dev/null || { echo "SKIPPED: valgrind is not installed"; exit 77; }
dir=$(mktemp -d "${HIPFILE_TEST_DIR:-/tmp}/hipfile-valgrind-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
head -c 100001 /dev/urandom >"$dir/from"
failures=0
for program in "$@"; do
  # As it is, and the bounce path on threads: targets of io_uring reads look uninitialised.
  # The device is small, because the search for leaks goes through all its memory. Threads of the
  # pool live on at exit, so their stacks count as possibly lost.
  for environment in A=b "HIPFILE_FORCE_COMPAT_MODE=true HIPFILE_ENGINE=threads"; do
    rm -f "$dir/to"
    # shellcheck disable=SC2086
    env HIP_PORTABLE_MEMORY=67108864 $environment valgrind --quiet --error-exitcode=99 \
      --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
      "$program" "$dir/from" "$dir/to" >"$dir/log" 2>&1
    status=$?
    if [ $status -ne 0 ] || ! cmp "$dir/from" "$dir/to" || grep -q '^==' "$dir/log"; then
      echo "failed ($status): $environment $program"
      head -60 "$dir/log"
      failures=$((failures + 1))
    fi
  done
done
exit $((failures > 0))
