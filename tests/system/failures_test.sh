#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# failures_test.sh PROJECT FAILING_CASES: dev/run-tests lists last what failed and why, each in few
# lines; dev/failures gives that list out of the log of a stage, or the end of a log without one.
set -euo pipefail

project=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
unset GTEST_OUTPUT

fail() {
  echo "failures_test: $1"
  tail -n 100 "$log" | sed "s/^/  | /"
  exit 1
}
# expect LINE...: these lines come last, in this order, whatever stands between them.
expect() {
  local at=0 found line
  for line in "$@"; do
    found=$(tail -n "+$((at + 1))" "$log" | grep -nxFm 1 -- "$line") || fail "missing: '$line'"
    at=$((at + ${found%%:*}))
  done
}

# ctest_file: one call of add_test a line of standard input, "NAME COMMAND...".
mkdir "$work/build"
while read -r name command; do
  printf 'add_test(%s "/bin/sh" "-c" [=[%s]=])\n' "$name" "$command"
  printf 'set_tests_properties(%s PROPERTIES TIMEOUT 30 SKIP_RETURN_CODE 77 ENVIRONMENT "%s")\n' \
    "$name" "GTEST_OUTPUT=xml:$work/build/test-results/$name.xml"
done > "$work/build/CTestTestfile.cmake" <<TESTS
cases $program --gtest_filter=-*Crashes
crash exec $program --gtest_filter=*Passes:*Crashes
leak $program --gtest_filter=*Passes; echo "ERROR: LeakSanitizer: lost"; seq 900 999; exit 23
script echo "no root"; exit 77
good true
absent_directory cd /nonexistent
TESTS
cat >> "$work/build/CTestTestfile.cmake" <<'TESTS'
add_test(absent "/nonexistent/program")
add_test(slow "/bin/sleep" "60")
set_tests_properties(slow PROPERTIES TIMEOUT 1)
TESTS

log=$work/suite
if "$project/dev/run-tests" "$work/build" > "$log" 2>&1; then fail "no failure"; fi

expect 'skipped:' '  cases: FailingCases.Skips: no <disk> & no "wish"' '  script: no root' \
       'failed:' '  cases: FailingCases.Differs' '    the second message' \
       '  cases: FailingCases.DiffersAtLength' '    difference 0' '    ...' \
       '  crash as a whole (Subprocess killed), in FailingCases.Crashes' '    step 99' \
       '  leak as a whole (Failed)' '    ERROR: LeakSanitizer: lost' '    999' \
       '  absent_directory as a whole (Failed)' '  absent as a whole (Not Run)' \
       '  slow as a whole (Timeout)' '3 passed, 7 failed, 2 skipped'
list=$(sed -n '/^failed:$/,$p' "$log")
grep -qE "^    .*failing_cases\.cc:[0-9]+" <<<"$list" || fail "no file and line"
grep -qF '<a> & \"b\"' <<<"$list" || fail "no text of the message"
if grep -qxE '    (step 50|difference 50|950)' <<<"$list"; then fail "listed at length"; fi

# The log of a stage, one without a list, and one that is long.
for line in $(seq 100); do echo "line $line"; done > "$work/lint"
sed -i '5s/.*/file.cc:7: error: wrong/' "$work/lint"
{ echo failed:; for line in $(seq 500); do echo "  case $line"; done; echo "0 passed, 1 failed"; } \
  > "$work/thread"
log=$work/list
"$project/dev/failures" "$work/suite" "$work/lint" "$work/thread" > "$log"
expect '--- failed: suite' '  cases: FailingCases.Differs' '  slow as a whole (Timeout)' \
       '--- failed: lint' '  file.cc:7: error: wrong' '  line 100' \
       '--- failed: thread' '  case 1'
if grep -qxF '  line 50' "$log"; then fail "a log at length"; fi
[[ $(wc -l < "$log") -eq 201 ]] || fail "not cut"
