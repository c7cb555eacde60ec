// SPDX-License-Identifier: MIT
//
// Order inside a stream, concurrency between streams, the rules of the null stream, host functions.

#include "hip_test.h"

namespace {

using namespace hip_test;

struct Log {
  std::atomic<int> next{0};
  int order[64] = {};
};
struct Note {
  Log* log;
  int number;
};
void write_note(void* data) {
  const Note& note = *static_cast<Note*>(data);
  note.log->order[note.log->next++] = note.number;
}

TEST(HipStream, WorkRunsInOrder) {
  const TestStream stream;
  Log log;
  std::vector<Note> notes;
  for (int i = 0; i < 64; ++i) notes.push_back({&log, i});
  for (Note& note : notes) {
    ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), &write_note, &note));
  }
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(log.order[i], i);
}

TEST(HipStream, CopiesStandInOrderWithHostFunctions) {
  const TestStream stream;
  const DeviceBuffer device(kMiB);
  const PinnedBuffer pinned(kMiB);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipMemsetAsync(device.data(), 5, kMiB, stream.get()));
  ASSERT_HIP(hipSuccess, hipMemcpyAsync(pinned.data(), device.data(), kMiB, hipMemcpyDefault,
                                        stream.get()));
  let_others_run();
  EXPECT_EQ(pinned.data()[0], 0);
  gate.open();
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(pinned.data()[kMiB - 1], 5);
}

TEST(HipStream, StreamsDoNotWaitForEachOther) {
  const TestStream held;
  const TestStream free;
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(held.get()));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(free.get(), &set_flag, &is_done));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(free.get()));
  EXPECT_TRUE(is_done.load());
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(held.get()));
}

TEST(HipStream, QueryFollowsTheWork) {
  const TestStream stream;
  EXPECT_HIP(hipSuccess, hipStreamQuery(stream.get()));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
  gate.open();
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_HIP(hipSuccess, hipStreamQuery(stream.get()));
}

TEST(HipStream, NotReadyIsNoLastError) {
  const TestStream stream;
  (void)hipGetLastError();
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
  EXPECT_HIP(hipSuccess, hipGetLastError());
}

TEST(HipStream, DestroyReturnsAtOnceAndWorkIsStillDone) {
  hipStream_t stream = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreate(&stream));
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(stream));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream, &set_flag, &is_done));
  EXPECT_HIP(hipSuccess, hipStreamDestroy(stream));
  EXPECT_FALSE(is_done.load());
  gate.open();
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  EXPECT_TRUE(is_done.load());
}

TEST(HipStream, UnknownHandlesAreRefused) {
  hipStream_t stream = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreate(&stream));
  ASSERT_HIP(hipSuccess, hipStreamDestroy(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamSynchronize(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamDestroy(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamDestroy(nullptr));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamQuery(unknown_stream()));
  if (is_on_nvidia()) return;
  int local = 0;
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamQuery(reinterpret_cast<hipStream_t>(&local)));
}

TEST(HipStream, FlagsAndDeviceAreKnown) {
  const TestStream stream(hipStreamNonBlocking);
  unsigned flags = 0;
  hipDevice_t device = -1;
  EXPECT_HIP(hipSuccess, hipStreamGetFlags(stream.get(), &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(hipStreamNonBlocking));
  EXPECT_HIP(hipSuccess, hipStreamGetDevice(stream.get(), &device));
  EXPECT_EQ(device, 0);
  hipStream_t refused = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipStreamCreateWithFlags(&refused, 0x40));
}

TEST(HipStream, PrioritiesAreClamped) {
  int least = 0;
  int greatest = 0;
  ASSERT_HIP(hipSuccess, hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LE(greatest, least);
  hipStream_t stream = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -100));
  EXPECT_HIP(hipSuccess, hipStreamDestroy(stream));
}

TEST(HipStream, PerThreadStreamIsNotTheNullStream) {
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(hipStreamPerThread));
  std::atomic<bool> is_idle_elsewhere{false};
  std::thread([&] {
    is_idle_elsewhere = hipStreamQuery(hipStreamPerThread) == hipSuccess;
  }).join();
  EXPECT_TRUE(is_idle_elsewhere.load());
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(hipStreamPerThread));
}

TEST(HipNullStream, WaitsForBlockingStreams) {
  const TestStream blocking;
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(blocking.get()));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(nullptr, &set_flag, &is_done));
  let_others_run();
  EXPECT_FALSE(is_done.load());
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(nullptr));
  EXPECT_TRUE(is_done.load());
}

TEST(HipNullStream, BlockingStreamsWaitForIt) {
  const TestStream blocking;
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(hipStreamLegacy));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(blocking.get(), &set_flag, &is_done));
  let_others_run();
  EXPECT_FALSE(is_done.load());
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(blocking.get()));
  EXPECT_TRUE(is_done.load());
}

TEST(HipNullStream, NonBlockingStreamsGoTheirOwnWay) {
  const TestStream independent(hipStreamNonBlocking);
  Gate gate;
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, gate.close_stream(nullptr));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(independent.get(), &set_flag, &is_done));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(independent.get()));
  EXPECT_TRUE(is_done.load());
}

TEST(HipNullStream, DoesNotWaitForNonBlockingStreams) {
  const TestStream independent(hipStreamNonBlocking);
  const DeviceBuffer buffer(64);
  char byte = 3;
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(independent.get()));
  if (has_hazards()) gate.open();  // there a synchronous copy waits for every stream
  EXPECT_HIP(hipSuccess, hipMemcpy(buffer.data(), &byte, 1, hipMemcpyHostToDevice));
  EXPECT_HIP(has_hazards() ? hipSuccess : hipErrorNotReady, hipStreamQuery(independent.get()));
}

TEST(HipNullStream, SynchronousCopyComesAfterBlockingStreams) {
  const TestStream blocking;
  const DeviceBuffer buffer(kMiB);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(blocking.get()));
  ASSERT_HIP(hipSuccess, hipMemsetAsync(buffer.data(), 9, kMiB, blocking.get()));
  std::thread opener([&] {
    let_others_run();
    gate.open();
  });
  EXPECT_EQ(contents(buffer.data(), kMiB), std::vector<char>(kMiB, 9));
  opener.join();
}

TEST(HipHostFunction, Rule10_MayNotCallHip) {
  const TestStream stream;
  std::atomic<int> error{-1};
  const auto call = [](void* data) {
    int device = 0;
    static_cast<std::atomic<int>*>(data)->store(hipGetDevice(&device));
  };
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), call, &error));
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(error.load(), hipErrorNotPermitted);
}

TEST(HipHostFunction, NullIsRefused) {
  EXPECT_HIP(hipErrorInvalidValue, hipLaunchHostFunc(nullptr, nullptr, nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamAddCallback(nullptr, nullptr, nullptr, 0));
}

TEST(HipHostFunction, CallbackGetsItsStream) {
  const TestStream stream;
  static std::atomic<hipStream_t> seen{nullptr};
  const auto callback = [](hipStream_t which, hipError_t status, void*) {
    if (status == hipSuccess) seen = which;
  };
  ASSERT_HIP(hipSuccess, hipStreamAddCallback(stream.get(), callback, nullptr, 0));
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(seen.load(), stream.get());
}

}  // namespace
