// SPDX-License-Identifier: MIT
// Small programs inside the test program: what depends on the environment or on the first call of a
// process runs in a process of its own, `api_test --probe NAME ARGUMENT...`, which prints its
// findings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "process.h"

namespace hipfile::test {

struct Probe {
  const char* name;
  int (*run)(const std::vector<std::string>&);
};

// Those with operations in flight (flight_probes.cc).
const std::vector<Probe>& flight_probes();

// Runs the probe of that name in this process. Returns its exit code.
int run_probe(const std::string& name, const std::vector<std::string>& arguments);

// Runs a probe in a child with a changed environment.
ProcessResult probe(const std::string& name, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment);

// Seconds after which a child counts as hung: it judges no speed, and the machine may be busy.
constexpr unsigned kChildLimit = 60;

// Runs `body` in a child of fork, for at most kChildLimit: what it returned, the number of the step
// that differs or 0, or 1000 and the signal that ended it. The allocator of g++ 12's
// AddressSanitizer has no handlers of fork: a lock of it that another thread holds is held in the
// child for ever. So under it a child that hangs is tried again; what hangs by itself hangs each
// time.
int step_of_child(const std::function<int()>& body);

}  // namespace hipfile::test
