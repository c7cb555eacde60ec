// SPDX-License-Identifier: MIT
//
// The pinned ring: bounds, order, small slots. Without a runtime in use the memory stays pageable.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <fstream>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/pinned_ring.h"
#include "support/kept.h"
#include "util/thread_pool.h"

namespace hipfile {
namespace {

constexpr size_t kTwoSlabs = 2 * PinnedRing::kSlabSize;

// A thread whose work ends in waiting for a slot; constructed, it waits.
class Waiter {
 public:
  template <typename Work>
  explicit Waiter(Work work)
      : thread_([this, work] {
          id_ = ::gettid();
          work();
        }) {
    while (!is_asleep()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void join() { thread_.join(); }

 private:
  bool is_asleep() const {
    std::string line;
    std::ifstream stat("/proc/self/task/" + std::to_string(id_.load()) + "/stat");
    return std::getline(stat, line) && line.find(") S ") != std::string::npos;
  }

  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

class RingTest : public ::testing::Test {
 protected:
  Gpu gpu_;
  PinnedRing& ring_ =
      *kept(std::make_unique<PinnedRing>(gpu_, kTwoSlabs));  // for good, as the driver does
};

TEST_F(RingTest, NothingIsTakenBeforeItIsNeeded) { EXPECT_EQ(ring_.size(), 0u); }

TEST_F(RingTest, Rule13_GrowsToItsBoundAndNoFurther) {
  std::vector<SlotLease> leases;
  std::set<char*> addresses;
  while (SlotLease lease = ring_.try_lease()) {
    addresses.insert(lease.data());
    leases.push_back(std::move(lease));
  }
  EXPECT_EQ(leases.size(), kTwoSlabs / PinnedRing::kSlotSize);
  EXPECT_EQ(addresses.size(), leases.size());
  EXPECT_EQ(ring_.size(), kTwoSlabs);
}

TEST_F(RingTest, Rule31_NoRequestMayHoldMoreThanAQuarter) {
  EXPECT_EQ(ring_.slots_per_request(), kTwoSlabs / PinnedRing::kSlotSize / 4);
}

TEST_F(RingTest, Rule31_WaiterGetsTheSlotThatComesBack) {
  std::vector<SlotLease> leases;
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  std::atomic<bool> is_served{false};
  Waiter waiter([&] {
    const SlotLease lease = ring_.lease();
    is_served = static_cast<bool>(lease);
  });
  EXPECT_FALSE(is_served);
  leases.pop_back();
  waiter.join();
  EXPECT_TRUE(is_served);
}

// Those who hold the slots may need the thread to give them back.
TEST_F(RingTest, Rule31_ThreadOfAPoolDoesNotWaitForASlot) {
  std::vector<SlotLease> leases;
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  struct Asking {
    PinnedRing& ring;
    std::atomic<int> has_got{-1};
  } asking{ring_};
  Task task;
  task.context = &asking;
  task.run = [](void* context) {
    auto* self = static_cast<Asking*>(context);
    const SlotLease lease = self->ring.lease();
    if (lease) lease.data()[PinnedRing::kSlotSize - 1] = 1;
    self->has_got = lease ? 1 : 0;
    self->has_got.notify_all();
  };
  kept(std::make_unique<ThreadPool>(1))->submit(task);
  asking.has_got.wait(-1);
  EXPECT_EQ(asking.has_got, 1);
  EXPECT_EQ(ring_.size(), kTwoSlabs);
}

TEST_F(RingTest, Rule13_FirstSlabIsEightMebibytes) {
  const SlotLease lease = ring_.lease();
  EXPECT_EQ(ring_.size(), size_t{8} << 20);
}

// Each waiter has asked before the next one starts: a waiter that is asleep is in its turn.
TEST_F(RingTest, Rule31_SlotsAreGrantedInTheOrderOfAsking) {
  std::vector<SlotLease> all;
  while (SlotLease lease = ring_.try_lease()) all.push_back(std::move(lease));
  std::atomic<int> served{0};
  std::vector<int> order(4, -1);
  std::deque<Waiter> waiters;
  for (int number = 0; number < 4; ++number) {
    waiters.emplace_back([&, number] {
      const SlotLease lease = ring_.lease();
      order[static_cast<size_t>(served++)] = number;
    });
  }
  all.pop_back();  // one slot, which goes from one to the next
  for (Waiter& waiter : waiters) waiter.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(RingTest, Rule31_FurtherSlotsAreNotTakenFromThoseWhoWaitForTheirFirst) {
  std::vector<SlotLease> all;
  while (SlotLease lease = ring_.try_lease()) all.push_back(std::move(lease));
  Waiter waiter([&] {
    const SlotLease first = ring_.lease();
    const SlotLease second = ring_.lease();
  });
  all.pop_back();
  EXPECT_FALSE(static_cast<bool>(ring_.try_lease()));
  all.pop_back();
  waiter.join();
}

TEST_F(RingTest, Rule13_SlotOfTheWantedNodeIsPreferred) {
  std::set<char*> near_first;
  {
    const SlotLease one = ring_.lease(0), two = ring_.lease(0);  // the first slab
    const SlotLease three = ring_.lease(1);                      // the second
    near_first = {one.data(), two.data()};
  }
  for (const int node : {0, 1, 0}) {
    EXPECT_EQ(near_first.count(ring_.lease(node).data()), node == 0 ? 1u : 0u);
  }
}

TEST_F(RingTest, Rule30_SmallSlotIsTheThreadsOwn) {
  char* mine = ring_.small_slot();
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(ring_.small_slot(), mine);
  char* other = nullptr;
  std::thread([&] { other = ring_.small_slot(); }).join();
  EXPECT_NE(other, mine);
  char* again = nullptr;
  std::thread([&] { again = ring_.small_slot(); }).join();
  EXPECT_EQ(again, other);  // a thread that ended leaves its slot to the next
}

// Threads, each with a small slot of its own, until they are let go.
class SmallOwners {
 public:
  explicit SmallOwners(PinnedRing& ring) {
    for (int at = 0; at < kCount; ++at) {
      threads_.emplace_back([this, &ring] {
        char* slot = ring.small_slot();
        if (slot != nullptr) slot[PinnedRing::kSmallSlotSize - 1] = 1;
        got_ += slot != nullptr ? 1 : 0;
        arrived_.count_down();
        end_.wait();
      });
    }
    arrived_.wait();
  }
  ~SmallOwners() {
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }
  int got() const { return got_; }

  static constexpr int kCount = 300;

 private:
  std::atomic<int> got_{0};
  std::latch arrived_{kCount}, end_{1};
  std::vector<std::thread> threads_;
};

// More than four slots have room for.
TEST_F(RingTest, Rule31_SmallSlotsLeaveHalfOfTheRing) {
  const SmallOwners owners(ring_);
  EXPECT_EQ(owners.got(), SmallOwners::kCount);
  std::vector<SlotLease> leases;
  leases.push_back(ring_.lease());
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  EXPECT_EQ(leases.size(), 2u);
}

TEST_F(RingTest, Rule31_WhereSmallSlotsTookAllNobodyWaits) {
  const SmallOwners owners(ring_);
  ring_.trim();
  ring_.limit(PinnedRing::kSlabSize, SIZE_MAX);
  EXPECT_FALSE(ring_.try_lease());
  EXPECT_TRUE(static_cast<bool>(ring_.lease()));
}

TEST_F(RingTest, NewBoundHoldsAndWhatIsThereStays) {
  std::vector<SlotLease> leases;
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  ring_.limit(PinnedRing::kSlabSize, SIZE_MAX);
  EXPECT_EQ(ring_.size(), kTwoSlabs);
  leases.clear();
  ring_.trim();
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  EXPECT_EQ(ring_.size(), PinnedRing::kSlabSize);
  ring_.limit(2 * kTwoSlabs, SIZE_MAX);
  EXPECT_EQ(ring_.slots_per_request(), 2 * kTwoSlabs / PinnedRing::kSlotSize / 4);
  while (SlotLease lease = ring_.try_lease()) leases.push_back(std::move(lease));
  EXPECT_EQ(ring_.size(), 2 * kTwoSlabs);
}

TEST_F(RingTest, TrimGivesBackWhatIsNotOut) {
  { const SlotLease lease = ring_.lease(); }
  EXPECT_GT(ring_.size(), 0u);
  ring_.trim();
  EXPECT_EQ(ring_.size(), 0u);
  EXPECT_TRUE(static_cast<bool>(ring_.lease()));
}

}  // namespace
}  // namespace hipfile
