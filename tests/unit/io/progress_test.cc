// SPDX-License-Identifier: MIT
#include "backend/progress.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace hipfile {
namespace {

const Error kNone = Error::of(hipFileSuccess);

TEST(Progress, FullChunksMoveEverything) {
  Progress progress(300);
  for (size_t at = 0; at < 300; at += 100) progress.note(at, 100, 100, kNone);
  EXPECT_FALSE(progress.is_stopped());
  EXPECT_EQ(progress.outcome().done, 300u);
}

TEST(Progress, EarliestShortfallWins) {
  Progress progress(300);
  progress.note(200, 100, 0, kNone);
  progress.note(100, 100, 40, kNone);
  progress.note(0, 100, 100, kNone);
  EXPECT_EQ(progress.outcome().done, 140u);
  EXPECT_FALSE(progress.outcome().failed());
}

TEST(Progress, ErrorBehindAnEarlierEndIsForgotten) {
  Progress progress(300);
  progress.note(200, 100, 0, Error::from_errno(EIO));
  progress.note(100, 100, 1, kNone);
  EXPECT_EQ(progress.outcome().done, 101u);
  EXPECT_FALSE(progress.outcome().failed());
}

TEST(Progress, ErrorOfTheFirstChunkMovesNothing) {
  Progress progress(300);
  progress.note(100, 100, 100, kNone);
  progress.note(0, 100, 0, Error::from_errno(EIO));
  EXPECT_EQ(progress.outcome().done, 0u);
  EXPECT_EQ(progress.outcome().error.sys_errno, EIO);
}

}  // namespace
}  // namespace hipfile
