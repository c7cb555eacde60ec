# SPDX-License-Identifier: MIT
#
# test-report.awk: the single cases of a run of ctest, for dev/run-tests. Reads what ctest printed
# and then its JUnit report, and per program DIR/PROGRAM.xml, which GoogleTest left there. Prints
# what was skipped, then what failed and why, and "N passed, N failed, N skipped"; exits with 1 when
# something failed.
#   -v dir=DIR -v left_out=PROGRAM|PROGRAM...   (the latter need root and were not started)
#
# The reports are written by these two programs only, one element a line, texts in <system-out>
# excepted. What failed is told in few lines, since a record of a long run may keep only its end: a
# case with the first lines of its messages, a program that left no failed case with how it ended,
# in which case, and the lines that tell most: the first of a sanitizer's report and the last.

BEGIN { kFailureLines = 20; kAllLines = 150; kReason = 10; kEnd = 10 }

function plain(text) {
  gsub(/&#x0[Aa];/, "\n", text); gsub(/&#x09;/, "\t", text); gsub(/&quot;/, "\"", text)
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}
function attribute(line, key) {
  if (!match(line, " " key "=\"[^\"]*\"")) return ""
  return plain(substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 4))
}
function skip(text) { gsub(/\n/, " ", text); skipped++; skips[skipped] = text }

# ---- What failed: a title, and under it at most so many lines of text.

function tell(line) { if (++told <= kAllLines) failures[told] = line }
function tell_failure(title) { tell("  " title); lines_left = kFailureLines }
function tell_text(text,    n, lines, i) {
  n = split(text, lines, "\n")
  for (i = 1; i <= n; i++) {
    if (lines[i] == "") continue
    if (--lines_left == 0) tell("    ...")
    if (lines_left > 0) tell("    " substr(lines[i], 1, 300))
  }
}
function tell_output(name,    from, i) {
  tell_failure(name " as a whole" (name in ended ? " (" ended[name] ")" : "") \
               (running != "" ? ", in " running : ""))
  from = outputs - kEnd + 1
  if (reason && from > reason + kReason) {
    for (i = reason; i < reason + kReason; i++) tell_text(plain(output[i]))
  } else if (reason) {
    from = reason
  }
  for (i = from < 1 ? 1 : from; i <= outputs; i++) tell_text(plain(output[i]))
}

# ---- The cases of one program; returns whether it left a report.

function cases(program,    file, line, name, found, pending, is_told) {
  file = dir "/" program ".xml"
  while ((getline line < file) > 0) {
    if (line ~ /<testsuite /) {
      found = 1
      passed += attribute(line, "tests") - attribute(line, "disabled")
      passed -= attribute(line, "failures") + attribute(line, "skipped")
      failed_cases += attribute(line, "failures")
    } else if (line ~ /<testcase /) {
      name = attribute(line, "classname") "." attribute(line, "name")
      pending = line ~ /result="skipped"/
      is_told = 0
      if (line ~ /status="notrun"/) skip(program ": " name ": disabled")
    } else if (line ~ /<skipped message/ && pending) {
      line = attribute(line, "message"); sub(/^[^ \n]*:[0-9]+[ \n]*/, "", line)
      skip(program ": " name ": " line)
      pending = 0
    } else if (line ~ /<failure message/) {
      if (!is_told) tell_failure(program ": " name)
      is_told = 1
      tell_text(attribute(line, "message"))
    }
  }
  close(file)
  failed += failed_cases
  return found
}

# ---- What ctest printed: "	  7 - PROGRAM (SEGFAULT)"

FILENAME != junit {
  if (/^\t *[0-9]+ - [^ ]+ \(.*\)$/) {
    name = $3
    sub(/^[^(]*\(/, ""); sub(/\)$/, "")
    ended[name] = $0
  }
  next
}

# ---- Its report.

/^\t<testcase / {
  program = attribute($0, "name"); state = attribute($0, "status")
  failed_cases = 0; outputs = 0; reason = 0; running = ""; is_output = 0
  reported = cases(program)
  if (state == "run" && !reported) passed++
}
/^\t\t<skipped / && state == "notrun" && $0 !~ /SKIP_RETURN_CODE|Disabled/ { state = "fail" }
/^\t\t<system-out>/ { is_output = 1; sub(/^\t\t<system-out>/, "") }
is_output {
  line = $0
  is_last = sub(/<\/system-out>$/, "", line)
  output[++outputs] = line
  if (!reason && line ~ /Sanitizer: |runtime error: |terminate called|Assertion .* failed/) {
    reason = outputs
  }
  if (line ~ /^\[ RUN      \] /) running = substr(line, 14)
  if (line ~ /^\[       OK \] |^\[  FAILED  \] |^\[  SKIPPED \] /) running = ""
  if (is_last) is_output = 0
}
/^\t<\/testcase>/ {
  if (state == "fail" && !failed_cases) { failed++; tell_output(program) }
  # A script says in its first line why it was skipped.
  if (state == "notrun" || state == "disabled") {
    skip(outputs == 0 || output[1] == "" ? program : program ": " plain(output[1]))
  }
}

END {
  n = split(left_out, names, "|")
  for (i = 1; i <= n; i++) skip(names[i] ": needs root")
  if (skipped) print "\nskipped:"
  for (i = 1; i <= skipped; i++) print "  " skips[i]
  if (told) print "\nfailed:"
  for (i = 1; i <= told && i <= kAllLines; i++) print failures[i]
  if (told > kAllLines) printf "  ... and %d lines more\n", told - kAllLines
  printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0
}
