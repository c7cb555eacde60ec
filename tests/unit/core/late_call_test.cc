// SPDX-License-Identifier: MIT
//
// What a thread keeps of ours, used after the thread's own destructors have run: by exit handlers
// of the program and by destructors of what was made before our first call. It must not be what a
// thread that started meanwhile has taken over.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "gpu/pinned_ring.h"
#include "support/kept.h"
#include "util/thread_pins.h"

namespace hipfile {
namespace {

// Runs `early` on a new thread, and `late` there when all that `early` made for the thread is gone.
void run_early_and_late(const std::function<void()>& early, const std::function<void()>& late) {
  struct Late {
    const std::function<void()>* run = nullptr;
    ~Late() {
      if (run != nullptr) (*run)();
    }
  };
  std::thread([&] {
    thread_local Late at_end;  // made first, so destroyed last
    at_end.run = &late;
    early();
  }).join();
}

template <class Look>
auto seen_by_another_thread(Look look) {
  decltype(look()) seen{};
  std::thread([&] { seen = look(); }).join();
  return seen;
}

TEST(LateCall, Rule6_PinsAreNotSharedWithAThreadThatStartedMeanwhile) {
  const auto mine = [] { return &ThreadPins::mine(); };
  run_early_and_late([&] { (void)mine(); },
                     [&] {
                       const ThreadPins* late = mine();
                       EXPECT_NE(late, seen_by_another_thread(mine));
                       EXPECT_EQ(late, mine());
                     });
}

TEST(LateCall, Rule6_SmallSlotIsNotSharedWithAThreadThatStartedMeanwhile) {
  Gpu gpu;
  PinnedRing& ring = *kept(std::make_unique<PinnedRing>(gpu, PinnedRing::kSlabSize));
  const auto slot = [&] { return ring.small_slot(); };
  run_early_and_late([&] { (void)slot(); },
                     [&] {
                       const char* late = slot();
                       EXPECT_NE(late, seen_by_another_thread(slot));
                       EXPECT_EQ(late, slot());
                     });
}

}  // namespace
}  // namespace hipfile
