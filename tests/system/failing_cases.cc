// SPDX-License-Identifier: MIT
// Fails on purpose, in each way a test can: what dev/run-tests tells of it is looked at by
// failures_test.sh, which runs it with the cases it wants.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <string>

namespace {

TEST(FailingCases, Passes) {}

TEST(FailingCases, Skips) { GTEST_SKIP() << "no <disk> & no \"wish\""; }

TEST(FailingCases, Differs) {
  EXPECT_EQ(std::string("<a> & \"b\""), "c");
  EXPECT_EQ(1, 2) << "the second message";
}

TEST(FailingCases, DiffersAtLength) {
  for (int line = 0; line < 100; ++line) ADD_FAILURE() << "difference " << line;
}

TEST(FailingCases, Crashes) {
  for (int line = 0; line < 100; ++line) std::printf("step %d\n", line);
  std::fflush(stdout);
  std::raise(SIGKILL);
}

}  // namespace
