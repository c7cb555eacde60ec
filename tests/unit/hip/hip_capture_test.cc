// SPDX-License-Identifier: MIT
//
// Stream capture: what is recorded, what joins, what spoils. The modes are in
// hip_capture_mode_test.

#include "hip_capture_test.h"

namespace {

using namespace hip_test;

TEST_F(HipCapture, StreamIsCapturingFromBeginToEnd) {
  unsigned long long id = 77;
  EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusNone);
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  EXPECT_HIP(hipSuccess, hipStreamGetCaptureInfo(stream(), &status, &id));
  EXPECT_EQ(id, 77U) << "set only while one is active";
  begin();
  EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusActive);
  EXPECT_HIP(hipSuccess, hipStreamGetCaptureInfo(stream(), &status, &id));
  const unsigned long long first = id;
  EXPECT_HIP(hipSuccess, end());
  EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusNone);
  begin();
  EXPECT_HIP(hipSuccess, hipStreamGetCaptureInfo(stream(), &status, &id));
  EXPECT_NE(id, first);
  EXPECT_HIP(hipSuccess, end());
}

TEST_F(HipCapture, WorkIsRecordedAndRunsWithEachLaunch) {
  const DeviceBuffer buffer(64);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 0, 64));
  calls_ = 0;
  begin();
  EXPECT_HIP(hipSuccess, hipMemsetAsync(buffer.data(), 5, 32, stream()));
  EXPECT_HIP(hipSuccess, hipMemcpyAsync(buffer.data() + 32, buffer.data(), 32,
                                        hipMemcpyDeviceToDevice, stream()));
  EXPECT_HIP(hipSuccess,
             hipStreamWaitValue32(stream(), buffer.data(), 0x05050505, hipStreamWaitValueEq));
  EXPECT_HIP(hipSuccess, hipStreamWriteValue32(stream(), buffer.data(), 0x01010101, 0));
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(stream(), &HipCapture::count, this));
  EXPECT_HIP(hipSuccess, end());
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream()));
  EXPECT_EQ(contents(buffer.data(), 64), std::vector<char>(64, 0)) << "nothing has run";
  EXPECT_EQ(calls_.load(), 0);

  hipGraphExec_t executable = nullptr;
  ASSERT_HIP(hipSuccess, hipGraphInstantiate(&executable, graph_, nullptr, nullptr, 0));
  EXPECT_HIP(hipSuccess, hipGraphDestroy(graph_));
  for (int turn = 1; turn <= 2; ++turn) {
    EXPECT_HIP(hipSuccess, hipGraphLaunch(executable, stream()));
    EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream()));
    std::vector<char> expected(64, 5);
    std::fill_n(expected.begin(), 4, '\1');
    EXPECT_EQ(contents(buffer.data(), 64), expected);
    EXPECT_EQ(calls_.load(), turn);
  }
  EXPECT_HIP(hipSuccess, hipGraphExecDestroy(executable));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphLaunch(executable, stream()));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphExecDestroy(executable));
}

TEST_F(HipCapture, BadArgumentsAreRefused) {
  auto* const unknown = reinterpret_cast<hipStream_t>(0x12345678);
  EXPECT_HIP(hipErrorStreamCaptureUnsupported,
             hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorStreamCaptureUnsupported,
             hipStreamBeginCapture(hipStreamLegacy, hipStreamCaptureModeRelaxed));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamBeginCapture(unknown, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorInvalidValue,
             hipStreamBeginCapture(stream(), static_cast<hipStreamCaptureMode>(3)));
  EXPECT_HIP(hipErrorIllegalState, end());
  EXPECT_EQ(graph_, nullptr);
  EXPECT_HIP(hipErrorInvalidValue, hipStreamEndCapture(stream(), nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamIsCapturing(stream(), nullptr));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamIsCapturing(unknown, &status));
  begin();
  EXPECT_HIP(hipErrorIllegalState, hipStreamBeginCapture(stream(), hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamEndCapture(stream(), nullptr));
  EXPECT_HIP(hipSuccess, end());
  hipGraphExec_t executable = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipGraphInstantiate(nullptr, graph_, nullptr, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphInstantiate(&executable, nullptr, nullptr, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphDestroy(nullptr));
  EXPECT_HIP(hipSuccess, hipGraphDestroy(graph_));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphDestroy(graph_));
}

TEST_F(HipCapture, PerThreadStreamCaptures) {
  ASSERT_HIP(hipSuccess, hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeRelaxed));
  EXPECT_EQ(status_of(hipStreamPerThread), hipStreamCaptureStatusActive);
  EXPECT_HIP(hipSuccess, hipStreamEndCapture(hipStreamPerThread, &graph_));
}

TEST_F(HipCapture, EventsForkItAndJoinItAgain) {
  const TestStream other(hipStreamNonBlocking);
  calls_ = 0;
  begin();
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(other.get(), event(), 0));
  EXPECT_EQ(status_of(other.get()), hipStreamCaptureStatusActive);
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(other.get(), &HipCapture::count, this));
  EXPECT_HIP(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(other.get(), &graph_));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), other.get()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipSuccess, end());
  EXPECT_EQ(status_of(other.get()), hipStreamCaptureStatusNone);
  EXPECT_EQ(calls_.load(), 0);
  hipGraphExec_t executable = nullptr;
  ASSERT_HIP(hipSuccess, hipGraphInstantiate(&executable, graph_, nullptr, nullptr, 0));
  EXPECT_HIP(hipSuccess, hipGraphLaunch(executable, stream()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream()));
  EXPECT_EQ(calls_.load(), 1);
  EXPECT_HIP(hipSuccess, hipGraphExecDestroy(executable));
}

TEST_F(HipCapture, BranchThatIsNotJoinedEndsItWithoutAGraph) {
  const TestStream other(hipStreamNonBlocking);
  begin();
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(other.get(), event(), 0));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), other.get()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(other.get(), &HipCapture::count, this))
      << "after the join";
  EXPECT_HIP(hipErrorStreamCaptureUnjoined, end());
  EXPECT_EQ(graph_, nullptr);
  EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusNone);
  EXPECT_EQ(status_of(other.get()), hipStreamCaptureStatusNone);
}

TEST_F(HipCapture, BranchIsJoinedThroughAThirdStream) {
  const TestStream second(hipStreamNonBlocking);
  const TestStream third(hipStreamNonBlocking);
  begin();
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(second.get(), event(), 0));
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(second.get(), &HipCapture::count, this));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), second.get()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(third.get(), event(), 0));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), third.get()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipSuccess, end());
}

TEST_F(HipCapture, StreamThatJoinedMayBeDestroyed) {
  hipStream_t other = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  begin();
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(other, event(), 0));
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(other, &HipCapture::count, this));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), other));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipSuccess, hipStreamDestroy(other));
  EXPECT_HIP(hipSuccess, end());
}

TEST_F(HipCapture, EndsWithItsFirstStream) {
  const TestStream other(hipStreamNonBlocking);
  hipStream_t first = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  ASSERT_HIP(hipSuccess, hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), first));
  EXPECT_HIP(hipSuccess, hipStreamWaitEvent(other.get(), event(), 0));
  EXPECT_HIP(hipSuccess, hipStreamDestroy(first));
  EXPECT_EQ(status_of(other.get()), hipStreamCaptureStatusNone);
  const DeviceBuffer buffer(64);
  EXPECT_NE(buffer.data(), nullptr) << "nothing forbids it any more";
}

TEST_F(HipCapture, QueriesAndWaitsSpoilIt) {
  void* memory = nullptr;
  const auto callback = [](hipStream_t, hipError_t, void*) {};
  const auto spoils = [&](hipError_t expected, hipError_t answer) {
    EXPECT_HIP(expected, answer);
    EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusInvalidated);
    EXPECT_HIP(hipErrorStreamCaptureInvalidated,
               hipLaunchHostFunc(stream(), &HipCapture::count, this));
    EXPECT_HIP(hipErrorStreamCaptureInvalidated, end());
    EXPECT_EQ(graph_, nullptr);
    EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusNone);
  };
  const hipError_t unsupported = hipErrorStreamCaptureUnsupported;
  begin(), spoils(unsupported, hipStreamQuery(stream()));
  begin(), spoils(unsupported, hipStreamSynchronize(stream()));
  begin(), spoils(unsupported, hipMallocAsync(&memory, 64, stream()));
  begin(), spoils(unsupported, hipStreamAddCallback(stream(), callback, nullptr, 0));
  begin(), spoils(unsupported, hipDeviceSynchronize());
  begin(), spoils(unsupported, hipDeviceReset());
  ASSERT_HIP(hipSuccess, hipMallocAsync(&memory, 64, nullptr));
  begin(), spoils(unsupported, hipFreeAsync(memory, stream()));
  EXPECT_HIP(hipSuccess, hipFree(memory));
}

TEST_F(HipCapture, EventRecordedInItIsNoEventToWaitFor) {
  hipEvent_t other = nullptr;
  ASSERT_HIP(hipSuccess, hipEventCreate(&other));
  float time = 0;
  for (int turn = 0; turn < 3; ++turn) {
    begin();
    EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
    EXPECT_HIP(hipErrorCapturedEvent, turn == 0   ? hipEventQuery(event())
                                      : turn == 1 ? hipEventSynchronize(event())
                                                  : hipEventElapsedTime(&time, other, event()));
    EXPECT_HIP(hipErrorStreamCaptureInvalidated, end());
  }
  EXPECT_HIP(hipErrorCapturedEvent, hipEventQuery(event())) << "also after its end";
  EXPECT_HIP(hipErrorCapturedEvent, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  EXPECT_HIP(hipSuccess, hipEventSynchronize(event())) << "recorded anew";
  EXPECT_HIP(hipSuccess, hipEventDestroy(other));
}

TEST_F(HipCapture, WaitForAnEventOutsideSpoilsIt) {
  ASSERT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  begin();
  EXPECT_HIP(hipErrorStreamCaptureIsolation, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipErrorStreamCaptureInvalidated, end());
}

TEST_F(HipCapture, TwoDoNotMerge) {
  const TestStream other(hipStreamNonBlocking);
  begin();
  ASSERT_HIP(hipSuccess, hipStreamBeginCapture(other.get(), hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), other.get()));
  EXPECT_HIP(hipErrorStreamCaptureMerge, hipStreamWaitEvent(stream(), event(), 0));
  EXPECT_HIP(hipErrorStreamCaptureInvalidated, end());
  EXPECT_HIP(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(other.get(), &graph_));
}

TEST_F(HipCapture, NullStreamSpoilsThatOfABlockingStream) {
  const TestStream blocking;
  const DeviceBuffer buffer(64);
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  const std::vector<char> bytes(64);
  const auto begin_blocking = [&] {
    EXPECT_HIP(hipSuccess, hipStreamBeginCapture(blocking.get(), hipStreamCaptureModeRelaxed));
  };
  const auto spoils = [&](hipError_t answer) {
    EXPECT_HIP(hipErrorStreamCaptureImplicit, answer);
    EXPECT_HIP(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(blocking.get(), &graph_));
  };
  begin_blocking();
  EXPECT_HIP(hipErrorStreamCaptureImplicit, hipStreamIsCapturing(nullptr, &status));
  EXPECT_HIP(hipSuccess, hipStreamEndCapture(blocking.get(), &graph_)) << "a question spoils not";
  begin_blocking(), spoils(hipMemcpy(buffer.data(), bytes.data(), 64, hipMemcpyDefault));
  begin_blocking(), spoils(hipMemset(buffer.data(), 1, 64));
  begin_blocking(), spoils(hipMemsetAsync(buffer.data(), 1, 64, nullptr));
  begin_blocking(), spoils(hipLaunchHostFunc(nullptr, &HipCapture::count, this));
  begin_blocking(), spoils(hipStreamSynchronize(nullptr));
  begin_blocking(), spoils(hipStreamQuery(nullptr));
  begin_blocking(), spoils(hipEventRecord(event(), nullptr));
  begin_blocking();
  EXPECT_HIP(hipSuccess, hipEventRecord(event(), blocking.get()));
  spoils(hipStreamWaitEvent(nullptr, event(), 0));
}

TEST_F(HipCapture, NullStreamMayWorkBesideThatOfANonBlockingStream) {
  const DeviceBuffer buffer(64);
  begin();
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data(), 9, 64));
  EXPECT_EQ(contents(buffer.data(), 64), std::vector<char>(64, 9));
  EXPECT_HIP(hipSuccess, end());
}

TEST_F(HipCapture, OtherStreamsGoOn) {
  const TestStream other(hipStreamNonBlocking);
  std::atomic<bool> is_done{false};
  begin();
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(other.get(), &set_flag, &is_done));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(other.get()));
  EXPECT_TRUE(is_done.load());
  EXPECT_HIP(hipSuccess, end());
}

TEST_F(HipCapture, LaunchIntoACapturingStreamIsRecorded) {
  calls_ = 0;
  begin();
  EXPECT_HIP(hipSuccess, hipLaunchHostFunc(stream(), &HipCapture::count, this));
  EXPECT_HIP(hipSuccess, end());
  hipGraphExec_t inner = nullptr;
  hipGraphExec_t outer = nullptr;
  ASSERT_HIP(hipSuccess, hipGraphInstantiate(&inner, graph_, nullptr, nullptr, 0));
  begin();
  EXPECT_HIP(hipSuccess, hipGraphLaunch(inner, stream()));
  EXPECT_HIP(hipSuccess, hipGraphLaunch(inner, stream()));
  EXPECT_HIP(hipSuccess, end());
  EXPECT_EQ(calls_.load(), 0);
  ASSERT_HIP(hipSuccess, hipGraphInstantiate(&outer, graph_, nullptr, nullptr, 0));
  EXPECT_HIP(hipSuccess, hipGraphLaunch(outer, stream()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream()));
  EXPECT_EQ(calls_.load(), 2);
  EXPECT_HIP(hipSuccess, hipGraphExecDestroy(inner));
  EXPECT_HIP(hipSuccess, hipGraphExecDestroy(outer));
}

}  // namespace
