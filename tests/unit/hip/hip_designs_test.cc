// SPDX-License-Identifier: MIT
//
// Two designs of an asynchronous read, of which one hangs where a driver has the habits of rule 9;
// and what a process finds at its end. Each runs in a process of its own with a time limit.

#include <unistd.h>

#include "hip_test.h"

namespace {

using namespace hip_test;

// Seconds after which a program counts as hung. Where it has to hang the test takes as long.
constexpr unsigned kTimeLimit = 60;
constexpr unsigned kTimeLimitOfHang = 3;

struct Design {
  Design() {
    (void)hipHostMalloc(&staging, 64);
    if (hipHostMalloc(&value, sizeof(*value)) == hipSuccess) *value = 0;
    (void)hipMalloc(&target, 64);
    (void)hipMalloc(&unrelated, 64);
    (void)hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    (void)hipStreamCreateWithFlags(&own, hipStreamNonBlocking);
  }
  void finish() const { __atomic_store_n(value, 1, __ATOMIC_RELEASE); }

  char* staging = nullptr;
  uint64_t* value = nullptr;
  char* target = nullptr;
  void* unrelated = nullptr;
  hipStream_t stream = nullptr;
  hipStream_t own = nullptr;
};

// The program calls hipFree while an operation is queued; the pool gets to its work after that.
template <typename Work>
void run_design(const Design& design, unsigned time_limit, Work work) {
  ::alarm(time_limit);
  std::thread pool([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    work();
  });
  (void)hipFree(design.unrelated);
  (void)hipStreamSynchronize(design.stream);
  pool.join();
  ::_exit(0);
}

void copy_behind_the_streams_wait() {
  const Design design;
  (void)hipStreamWaitValue64(design.stream, design.value, 1, hipStreamWaitValueEq);
  run_design(design, has_hazards() ? kTimeLimitOfHang : kTimeLimit, [&] {
    (void)hipMemcpyAsync(design.target, design.staging, 64, hipMemcpyDefault, design.own);
    (void)hipStreamSynchronize(design.own);
    design.finish();
  });
}

void queue_everything_in_the_stream() {
  const Design design;
  (void)hipStreamWaitValue64(design.stream, design.value, 1, hipStreamWaitValueEq);
  (void)hipMemcpyAsync(design.target, design.staging, 64, hipMemcpyDefault, design.stream);
  run_design(design, kTimeLimit, [&] { design.finish(); });
}

using HipDesignDeathTest = testing::Test;

TEST(HipDesignDeathTest, Rule9_Rule29_CopyOfAPoolThreadBehindAWaitHangs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  if (has_hazards()) {
    EXPECT_EXIT(copy_behind_the_streams_wait(), testing::KilledBySignal(SIGALRM), "");
  } else {
    EXPECT_EXIT(copy_behind_the_streams_wait(), testing::ExitedWithCode(0), "");
  }
}

TEST(HipDesignDeathTest, Rule9_WhatIsAllInTheStreamFinishes) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(queue_everything_in_the_stream(), testing::ExitedWithCode(0), "");
}

// ---- The end of the process

TEST(HipDesignDeathTest, Rule6_QueuedAndFullStreamsDoNotHoldTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::alarm(kTimeLimit);
        const Design design;
        (void)hipStreamWaitValue64(design.stream, design.value, 1, hipStreamWaitValueEq);
        std::thread([&] {
          for (;;) (void)hipStreamWriteValue64(design.stream, design.staging, 7, 0);
        }).detach();
        std::thread([&] { (void)hipFree(design.unrelated); }).detach();
        let_others_run();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// On NVIDIA it is refused instead.
TEST(HipDesignDeathTest, Rule6_WorkQueuedAfterExitBeganRuns) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        // Registered before the runtime starts, so it runs after the runtime's own handler.
        std::atexit([] {
          const Design late;
          static std::atomic<bool> is_done{false};
          const hipError_t error =
              hipMemcpyAsync(late.target, late.staging, 64, hipMemcpyDefault, late.stream);
          if (is_on_nvidia()) ::_exit(error == hipErrorDeinitialized ? 8 : 9);
          (void)hipLaunchHostFunc(late.stream, &set_flag, &is_done);
          const bool works = hipStreamSynchronize(late.stream) == hipSuccess && is_done &&
                             hipFree(late.target) == hipSuccess;
          ::_exit(works ? 8 : 9);
        });
        ::alarm(kTimeLimit);
        const Design early;
        (void)hipStreamWaitValue64(early.stream, early.value, 1, hipStreamWaitValueEq);
        let_others_run();  // it has begun, so it is not dropped but ends
        std::exit(0);
      },
      testing::ExitedWithCode(8), "");
}

}  // namespace
