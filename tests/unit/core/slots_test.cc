// SPDX-License-Identifier: MIT
//
// Handles with generations, pins, and deferred retirement (rules 30 and 34).
#include "util/slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace hipfile {
namespace {

struct Counted {
  explicit Counted(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Counted() { --alive_; }
  std::atomic<int>& alive_;
};

class SlotsTest : public ::testing::Test {
 protected:
  uint64_t insert() { return slots_.insert(std::make_unique<Counted>(alive_)); }

  std::atomic<int> alive_{0};
  SlotArray<Counted> slots_{1, 5};
};

using Retired = SlotArray<Counted>::Retired;

TEST_F(SlotsTest, Rule30_HandleIsNeverZeroAndFindsItsObject) {
  const uint64_t handle = insert();
  EXPECT_NE(handle, 0u);
  EXPECT_TRUE(static_cast<bool>(slots_.pin(handle)));
  EXPECT_FALSE(static_cast<bool>(slots_.pin(0)));
  EXPECT_FALSE(static_cast<bool>(slots_.pin(~uint64_t{0})));
}

TEST_F(SlotsTest, HandleOfAnotherKindIsUnknown) {
  SlotArray<Counted> others{2, 5};
  const uint64_t mine = insert();
  const uint64_t other = others.insert(std::make_unique<Counted>(alive_));
  EXPECT_FALSE(static_cast<bool>(slots_.pin(other)));
  EXPECT_FALSE(static_cast<bool>(others.pin(mine)));
  EXPECT_EQ(slots_.retire(other), Retired::kUnknown);
}

TEST_F(SlotsTest, Rule30_StaleHandleIsUnknownAfterTheSlotIsUsedAgain) {
  const uint64_t first = insert();
  EXPECT_EQ(slots_.retire(first), Retired::kDone);
  const uint64_t second = insert();
  EXPECT_EQ(second & 0xffffffff, first & 0xffffffff);
  EXPECT_FALSE(static_cast<bool>(slots_.pin(first)));
  EXPECT_EQ(slots_.retire(first), Retired::kUnknown);
  EXPECT_TRUE(static_cast<bool>(slots_.pin(second)));
}

TEST_F(SlotsTest, Rule34_PinnedObjectOutlivesItsRetirement) {
  const uint64_t handle = insert();
  {
    const Pin<Counted> pin = slots_.pin(handle);
    EXPECT_EQ(slots_.retire(handle), Retired::kDone);
    EXPECT_EQ(alive_, 1);
    EXPECT_FALSE(static_cast<bool>(slots_.pin(handle)));
  }
  EXPECT_EQ(alive_, 0);
}

TEST_F(SlotsTest, Rule34_RetireIfIdleLeavesAPinnedObjectAlone) {
  const uint64_t handle = insert();
  {
    const Pin<Counted> pin = slots_.pin(handle);
    EXPECT_EQ(slots_.retire_if_idle(handle), Retired::kInUse);
  }
  EXPECT_TRUE(static_cast<bool>(slots_.pin(handle)));
  EXPECT_EQ(slots_.retire_if_idle(handle), Retired::kDone);
  EXPECT_EQ(alive_, 0);
}

TEST_F(SlotsTest, RefusedRetirementHidesTheObjectFromNobody) {
  const uint64_t handle = insert();
  std::atomic<bool> is_done{false};
  const Pin<Counted> held = slots_.pin(handle);
  std::thread retirer([&] {
    while (!is_done) {
      EXPECT_EQ(slots_.retire_if_idle(handle), Retired::kInUse);
    }
  });
  int missed = 0;
  for (int i = 0; i < 300000; ++i) missed += slots_.pin(handle) ? 0 : 1;
  is_done = true;
  retirer.join();
  EXPECT_EQ(missed, 0);
}

TEST_F(SlotsTest, Rule34_WaitIdleReturnsOnceTheLastPinIsGone) {
  const uint64_t handle = insert();
  std::atomic<bool> is_pinned{false};
  std::atomic<bool> may_end{false};
  std::thread user([&] {
    const Pin<Counted> pin = slots_.pin(handle);
    is_pinned = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!is_pinned) std::this_thread::yield();
  slots_.retire(handle);
  EXPECT_EQ(alive_, 1);
  may_end = true;
  slots_.wait_idle();
  EXPECT_EQ(alive_, 0);
  user.join();
}

TEST_F(SlotsTest, HeldObjectOutlivesItsHandleAndDelaysNobody) {
  const uint64_t handle = insert();
  Hold<Counted> held;
  {
    const Pin<Counted> pin = slots_.pin(handle);
    held = pin.hold();
    EXPECT_EQ(slots_.retire(handle), Retired::kDone);
  }
  slots_.wait_idle();
  EXPECT_EQ(alive_, 1);
  EXPECT_FALSE(static_cast<bool>(slots_.pin(handle)));
  held = Hold<Counted>();
  EXPECT_EQ(alive_, 0);
  slots_.wait_idle();
}

TEST_F(SlotsTest, HeldObjectIsInUse) {
  const uint64_t handle = insert();
  Hold<Counted> held = slots_.pin(handle).hold();
  EXPECT_EQ(slots_.retire_if_idle(handle), Retired::kInUse);
  EXPECT_TRUE(static_cast<bool>(slots_.pin(handle)));
  held = Hold<Counted>();
  EXPECT_EQ(slots_.retire_if_idle(handle), Retired::kDone);
  EXPECT_EQ(alive_, 0);
}

TEST_F(SlotsTest, ThreadsPinHoldAndRetireAtRandom) {
  constexpr int kSlots = 32;
  std::vector<std::atomic<uint64_t>> handles(kSlots);
  for (auto& handle : handles) handle = insert();
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      unsigned random = seed;
      for (int step = 0; step < 20000; ++step) {
        random = random * 1664525 + 1013904223;
        std::atomic<uint64_t>& place = handles[random >> 8 & (kSlots - 1)];
        uint64_t handle = place.load();
        if (random >> 20 & 7) {
          Hold<Counted> held;
          {
            const Pin<Counted> pin = slots_.pin(handle);
            if ((random >> 23 & 1) != 0) held = pin.hold();
            if (pin) {
              EXPECT_GT(pin->alive_.load(), 0);
            }
          }
          if (held) {
            EXPECT_GT(held->alive_.load(), 0);
          }
        } else if (slots_.retire(handle) == Retired::kDone) {
          place = insert();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  slots_.wait_idle();
  EXPECT_EQ(alive_, kSlots);
}

}  // namespace
}  // namespace hipfile
