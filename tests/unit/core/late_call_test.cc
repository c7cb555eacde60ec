// SPDX-License-Identifier: MIT
//
// What a thread keeps of ours, used after the thread's own destructors have run: by exit handlers
// of the program and by destructors of what was made before our first call. It must not be what a
// thread that started meanwhile has taken over.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <memory>
#include <thread>

#include "gpu/pinned_ring.h"
#include "support/kept.h"
#include "util/thread_pins.h"

namespace hipfile {
namespace {

using Body = std::function<void()>;

// Runs `early` on a new thread, and `late` there twice: when what `early` made for the thread is
// about to go, and when it has gone. The thread's keys are looked through again while one of them
// has a value.
void run_early_and_late(const Body& early, const Body& late) {
  static pthread_key_t key;
  static int rounds;
  const auto at_end = [](void* body) {
    if (rounds++ == 0) pthread_setspecific(key, body);
    (*static_cast<const Body*>(body))();
  };
  rounds = 0;
  ASSERT_EQ(0, pthread_key_create(&key, at_end));
  std::thread([&] {
    pthread_setspecific(key, &late);
    early();
  }).join();
  EXPECT_EQ(2, rounds);
  pthread_key_delete(key);
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
