// SPDX-License-Identifier: MIT
//
// Events: places in streams, waits for them, times between them.

#include <ctime>

#include "hip_test.h"

namespace {

using namespace hip_test;

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = hipEventDefault) {
    if (hipEventCreateWithFlags(&event_, flags) != hipSuccess) event_ = nullptr;
  }
  ~TestEvent() { (void)hipEventDestroy(event_); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  hipEvent_t get() const { return event_; }

 private:
  hipEvent_t event_ = nullptr;
};

TEST(HipEvent, NeverRecordedIsReady) {
  const TestEvent event;
  EXPECT_HIP(hipSuccess, hipEventQuery(event.get()));
  EXPECT_HIP(hipSuccess, hipEventSynchronize(event.get()));
}

TEST(HipEvent, IsReadyWhenTheWorkBeforeItIsDone) {
  const TestStream stream;
  const TestEvent event;
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event.get(), stream.get()));
  EXPECT_HIP(hipErrorNotReady, hipEventQuery(event.get()));
  gate.open();
  EXPECT_HIP(hipSuccess, hipEventSynchronize(event.get()));
  EXPECT_HIP(hipSuccess, hipEventQuery(event.get()));
}

TEST(HipEvent, OtherStreamWaitsForIt) {
  const TestStream first(hipStreamNonBlocking);
  const TestStream second(hipStreamNonBlocking);
  const TestEvent event(hipEventDisableTiming);
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(first.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event.get(), first.get()));
  ASSERT_HIP(hipSuccess, hipStreamWaitEvent(second.get(), event.get(), 0));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(second.get(), &set_flag, &is_done));
  let_others_run();
  EXPECT_FALSE(is_done.load());
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(second.get()));
  EXPECT_TRUE(is_done.load());
}

TEST(HipEvent, WaitKeepsTheRecordItSaw) {
  const TestStream first(hipStreamNonBlocking);
  const TestStream second(hipStreamNonBlocking);
  const TestEvent event;
  ASSERT_HIP(hipSuccess, hipEventRecord(event.get(), first.get()));
  ASSERT_HIP(hipSuccess, hipStreamWaitEvent(second.get(), event.get(), 0));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(first.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event.get(), first.get()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(second.get()));
}

TEST(HipEvent, DestroyedEventIsStillWaitedFor) {
  const TestStream first(hipStreamNonBlocking);
  const TestStream second(hipStreamNonBlocking);
  hipEvent_t event = nullptr;
  ASSERT_HIP(hipSuccess, hipEventCreate(&event));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(first.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event, first.get()));
  ASSERT_HIP(hipSuccess, hipStreamWaitEvent(second.get(), event, 0));
  ASSERT_HIP(hipSuccess, hipEventDestroy(event));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(second.get()));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventQuery(event));
}

TEST(HipEvent, ElapsedTimeIsThatOfTheWork) {
  const TestStream stream;
  const TestEvent start;
  const TestEvent stop;
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  ASSERT_HIP(hipSuccess, hipEventRecord(start.get(), stream.get()));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), nap, nullptr));
  ASSERT_HIP(hipSuccess, hipEventRecord(stop.get(), stream.get()));
  ASSERT_HIP(hipSuccess, hipEventSynchronize(stop.get()));
  float milliseconds = 0;
  EXPECT_HIP(hipSuccess, hipEventElapsedTime(&milliseconds, start.get(), stop.get()));
  EXPECT_GE(milliseconds, 19.0F);
  EXPECT_LT(milliseconds, 60000.0F);
}

TEST(HipEvent, ElapsedTimeNeedsTwoRecordsWithTiming) {
  const TestStream stream;
  const TestEvent never;
  const TestEvent timed;
  const TestEvent untimed(hipEventDisableTiming);
  ASSERT_HIP(hipSuccess, hipEventRecord(timed.get(), stream.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(untimed.get(), stream.get()));
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  float milliseconds = 0;
  EXPECT_HIP(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, timed.get(), never.get()));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, timed.get(), untimed.get()));
}

TEST(HipEvent, ElapsedTimeOfUnfinishedWorkIsNotReady) {
  const TestStream stream;
  const TestEvent start;
  const TestEvent stop;
  Gate gate;
  ASSERT_HIP(hipSuccess, hipEventRecord(start.get(), stream.get()));
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(stop.get(), stream.get()));
  float milliseconds = 0;
  EXPECT_HIP(hipErrorNotReady, hipEventElapsedTime(&milliseconds, start.get(), stop.get()));
}

TEST(HipEvent, SynchronizeSleeps) {
  const TestStream stream;
  // A driver looks again and again where it is not told to sleep.
  const TestEvent event(is_on_nvidia() ? hipEventBlockingSync : hipEventDefault);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event.get(), stream.get()));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.open();
  });
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  EXPECT_HIP(hipSuccess, hipEventSynchronize(event.get()));
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  opener.join();
  const double used = static_cast<double>(after.tv_sec - before.tv_sec) +
                      static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9;
  EXPECT_LT(used, 0.1);
}

TEST(HipEvent, BadArgumentsAreRefused) {
  hipEvent_t event = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipEventCreate(nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipEventCreateWithFlags(&event, 0x100));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventRecord(nullptr, nullptr));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventDestroy(nullptr));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamWaitEvent(nullptr, nullptr, 0));
}

}  // namespace
