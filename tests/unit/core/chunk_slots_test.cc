// SPDX-License-Identifier: MIT
//
// The slots of one request among many: what a share is, and that what is above it goes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "backend/bounce_pipeline.h"
#include "support/kept.h"

namespace hipfile {
namespace {

using Member = ReaderCrowd::Member;

class ChunkSlotsTest : public ::testing::Test {
 protected:
  Gpu gpu_;
  PinnedRing& ring_ = *kept(std::make_unique<PinnedRing>(gpu_, 4 * PinnedRing::kSlabSize));
  ChunkSlots slots_{ring_, -1};

  std::vector<int> take_all(unsigned most) {
    std::vector<int> taken;
    for (int index = slots_.take(most); index >= 0; index = slots_.take(most)) {
      taken.push_back(index);
    }
    return taken;
  }
};

TEST(ReaderCrowdTest, OneHasEnoughForEveryThreadAndItsCopy) {
  ReaderCrowd crowd;
  const Member alone(crowd);
  EXPECT_EQ(alone.share(), 16u);
}

TEST(ReaderCrowdTest, ManyShareLittleMoreThanOneHas) {
  ReaderCrowd crowd;
  std::vector<std::unique_ptr<Member>> members;
  for (unsigned count = 1; count <= 64; ++count) {
    members.push_back(std::make_unique<Member>(crowd));
    const unsigned share = members.front()->share();
    EXPECT_GE(share, 1u);
    EXPECT_LE(share * count, std::max(24 + count - 1, count)) << count;
  }
}

TEST(ReaderCrowdTest, WhoLeavesLeavesTheirShare) {
  ReaderCrowd crowd;
  const Member stays(crowd);
  std::optional<Member> leaves(std::in_place, crowd);
  EXPECT_EQ(stays.share(), 12u);
  leaves.reset();
  EXPECT_EQ(stays.share(), 16u);
}

TEST_F(ChunkSlotsTest, TakesUpToTheMost) {
  EXPECT_EQ(take_all(3).size(), 3u);
  EXPECT_EQ(slots_.count(), 3u);
  EXPECT_EQ(take_all(5).size(), 2u);
}

TEST_F(ChunkSlotsTest, Rule31_WhatIsAboveTheShareGoesBackToTheRing) {
  for (const int index : take_all(8)) slots_.give_back(index);
  EXPECT_FALSE(ring_.try_lease()) << "the ring has more than eight slots";
  EXPECT_GE(slots_.take(2), 0);
  EXPECT_EQ(slots_.count(), 2u);
  std::vector<SlotLease> others;
  while (SlotLease lease = ring_.try_lease()) others.push_back(std::move(lease));
  EXPECT_EQ(others.size(), 6u);
}

TEST_F(ChunkSlotsTest, ABusySlotIsNoneThatGoesBack) {
  const std::vector<int> taken = take_all(4);
  EXPECT_EQ(slots_.take(1), -1);
  EXPECT_EQ(slots_.count(), 4u);
  for (const int index : taken) EXPECT_NE(slots_.data(index), nullptr);
}

TEST_F(ChunkSlotsTest, SlotsThatCameAgainHaveMemoryOfTheirOwn) {
  for (const int index : take_all(4)) slots_.give_back(index);
  std::set<char*> addresses;
  std::set<int> indices;
  const int first = slots_.take(1);
  addresses.insert(slots_.data(first));
  indices.insert(first);
  for (const int index : take_all(4)) {
    addresses.insert(slots_.data(index));
    indices.insert(index);
  }
  EXPECT_EQ(addresses.size(), 4u);
  EXPECT_EQ(indices, (std::set<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace hipfile
