#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# injected_test AISCP EXAMPLE [every]: one system call of a copy fails, the Nth of its kind, N
# counted up until a run is untouched. Whatever fails: no crash, no hang; exit 0 means that the copy
# is whole; any other leaves the old destination whole (the tool) and says why; no temporary file is
# left. strace does it from outside, so raw system calls are met as well.
# With "every" each N is taken, and copies to a new name too (the soak verb).
set -euo pipefail

aiscp=$1 example=$2 every=${3:-}
[[ $(id -u) -eq 0 ]] || { echo "needs root"; exit 77; }
strace -o /dev/null true 2>/dev/null || { echo "strace does not work here"; exit 77; }

dir=$(mktemp -d "${HIPFILE_TEST_DIR:-/tmp}/injected.XXXXXX")
trap 'rm -rf "$dir"' EXIT
head -c 1500003 /dev/urandom > "$dir/source"
head -c 700001 /dev/urandom > "$dir/old"
export ASAN_OPTIONS=detect_leaks=0 HIP_PORTABLE_BACKEND=emulated
bad=0 runs=0

complain() {
  echo "FAILED: $*"
  sed 's/^/    /' "$dir/stderr" | head -n 5
  bad=$((bad + 1))
}

# judge WHAT STATUS OLD TO: what every run must hold to. OLD is empty where no file was before.
judge() {
  local what=$1 status=$2 old=$3 to=$4 left
  [[ $status -lt 124 ]] || { complain "$what: status $status"; return; }
  left=$(find "$dir/copies" -mindepth 1 ! -name to)
  [[ -z $left ]] || complain "$what: left behind: $left"
  if [[ $status -eq 0 ]]; then
    cmp -s "$dir/source" "$to" || complain "$what: exit 0 without the copy"
    return
  fi
  [[ -s $dir/stderr ]] || complain "$what: exit $status without a word"
  if [[ -n $old && ! -e $dir/in-place ]]; then
    cmp -s "$old" "$to" || cmp -s "$dir/source" "$to" || complain "$what: the old file is torn"
  elif [[ -z $old && -e $to ]]; then
    cmp -s "$dir/source" "$to" || complain "$what: a part of the copy under its name"
  fi
}

# inject WHEN CALLS ERROR OLD PROGRAM...: one run. Returns 1 when nothing was injected.
inject() {
  local nth=$1 calls=$2 error=$3 old=$4 status=0
  shift 4
  rm -rf "$dir/copies" && mkdir "$dir/copies"
  [[ -z $old ]] || cp "$old" "$dir/copies/to"
  timeout -k 5 60 strace -f -qq -o "$dir/trace" -e trace="$calls" \
    -e inject="$calls":error="$error":when="$nth" -- "$@" "$dir/source" "$dir/copies/to" \
    > /dev/null 2> "$dir/stderr" || status=$?
  runs=$((runs + 1))
  grep -q '(INJECTED)' "$dir/trace" || return 1
  rm -f "$dir/in-place"
  ! grep -q 'incomplete' "$dir/stderr" || touch "$dir/in-place"
  judge "$(basename "$1") with $calls $nth: $error" "$status" "$old" "$dir/copies/to"
}

# calls_of_loader CALLS PROGRAM: what is made before the program's own code runs.
calls_of_loader() {
  strace -qq -o "$dir/trace" -e trace="$1" -- "$2" > /dev/null 2>&1 || true
  grep -c . "$dir/trace" || true
}

# count_up CALLS ERROR OLD PROGRAM: strace counts the calls of each thread apart. A stride keeps the
# runs few.
count_up() {
  local calls=$1 error=$2 old=$3 program=$4 first step=1 nth
  first=$(calls_of_loader "$calls" "$program")
  for ((nth = 1; nth <= 400; nth += step)); do
    inject "$((first + nth))" "$calls" "$error" "$old" "$program" || return 0
    if [[ -z $every && $nth -ge 6 ]]; then step=$((step * 2)); fi
  done
}

cases=(
  "openat EACCES" "openat EMFILE" "read EIO" "pread64 EIO" "pread64 EINTR" "pwrite64 ENOSPC"
  "pwrite64 EINTR" "io_uring_setup EPERM" "io_uring_setup ENOMEM" "io_uring_enter EINTR"
  "io_uring_enter EAGAIN" "mmap ENOMEM" "mremap ENOMEM" "madvise EINVAL" "fstat EIO" "statx EIO"
  "newfstatat EIO" "ftruncate EIO" "fallocate ENOSPC" "fallocate EOPNOTSUPP" "fdatasync EIO"
  "linkat EEXIST" "linkat EPERM" "rename EBUSY" "renameat2 EINVAL" "unlink EACCES" "fchmod EPERM"
  "fchown EPERM" "utimensat EPERM" "fcntl EMFILE" "clone3 EAGAIN" "dup EMFILE")
for one in "${cases[@]}"; do
  read -r calls error <<<"$one"
  count_up "$calls" "$error" "$dir/old" "$aiscp"
  [[ -z $every ]] || count_up "$calls" "$error" "" "$aiscp"
done
for one in "openat EMFILE" "pread64 EIO" "pwrite64 ENOSPC" "mmap ENOMEM" "io_uring_setup EPERM" \
           "ftruncate EIO"; do
  read -r calls error <<<"$one"
  : > "$dir/in-place"  # the example overwrites, as its page says
  count_up "$calls" "$error" "" "$example"
done
echo "$runs runs, $bad failed"
[[ $bad -eq 0 ]]
