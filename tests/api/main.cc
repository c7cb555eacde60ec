// SPDX-License-Identifier: MIT
// The API tests' program: GoogleTest, or one probe.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "probes.h"

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--probe") == 0) {
    const int result =
        hipfile::test::run_probe(argv[2], std::vector<std::string>(argv + 3, argv + argc));
    std::fflush(stdout);
    return result;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
