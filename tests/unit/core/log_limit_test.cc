// SPDX-License-Identifier: MIT
//
// One message a second, and the count of the others.
#include <gtest/gtest.h>

#include "util/log.h"

namespace hipfile {
namespace {

TEST(LogLimitTest, AdmitsTheFirstOfEachSecond) {
  LogLimit limit;
  unsigned suppressed = 4711;
  EXPECT_TRUE(limit.admits_at(10, &suppressed));
  EXPECT_EQ(0u, suppressed);
  for (int i = 0; i < 41; ++i) EXPECT_FALSE(limit.admits_at(10, &suppressed));
  EXPECT_TRUE(limit.admits_at(11, &suppressed));
  EXPECT_EQ(41u, suppressed);
  EXPECT_TRUE(limit.admits_at(99, &suppressed));
  EXPECT_EQ(0u, suppressed);
}

TEST(LogLimitTest, LimitsAreIndependent) {
  LogLimit one, other;
  unsigned suppressed = 0;
  EXPECT_TRUE(one.admits_at(10, &suppressed));
  EXPECT_TRUE(other.admits_at(10, &suppressed));
}

TEST(LogLevelTest, NamesInAnyCase) {
  EXPECT_EQ(LogLevel::kOff, parse_log_level("Off"));
  EXPECT_EQ(LogLevel::kError, parse_log_level("ERROR"));
  EXPECT_EQ(LogLevel::kWarning, parse_log_level("warn"));
  EXPECT_EQ(LogLevel::kInfo, parse_log_level("NOTICE"));
  EXPECT_EQ(LogLevel::kDebug, parse_log_level("trace"));
  EXPECT_FALSE(parse_log_level("").has_value());
  EXPECT_FALSE(parse_log_level("LOUD").has_value());
}

TEST(LogLevelTest, ArgumentsOfAMessageThatIsOffAreNotEvaluated) {
  set_log(LogLevel::kError, "");
  int evaluated = 0;
  log_debug("%d", ++evaluated);
  EXPECT_EQ(0, evaluated);
}

}  // namespace
}  // namespace hipfile
