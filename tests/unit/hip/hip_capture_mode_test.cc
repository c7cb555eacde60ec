// SPDX-License-Identifier: MIT
//
// The modes of a capture and of a thread: who may call what no graph could repeat.

#include <functional>

#include "hip_capture_test.h"

namespace {

using namespace hip_test;

// Sets the calling thread's mode and puts it back.
class ThreadMode {
 public:
  explicit ThreadMode(hipStreamCaptureMode mode) : mode_(mode) {
    EXPECT_HIP(hipSuccess, hipThreadExchangeStreamCaptureMode(&mode_));
  }
  ~ThreadMode() { EXPECT_HIP(hipSuccess, hipThreadExchangeStreamCaptureMode(&mode_)); }
  ThreadMode(const ThreadMode&) = delete;
  ThreadMode& operator=(const ThreadMode&) = delete;

 private:
  hipStreamCaptureMode mode_;
};

hipError_t allocate() {
  void* memory = nullptr;
  const hipError_t error = hipMalloc(&memory, 64);
  return error == hipSuccess ? hipFree(memory) : error;
}

hipError_t on_another_thread(const std::function<hipError_t()>& call) {
  hipError_t error = hipErrorUnknown;
  std::thread([&] { error = call(); }).join();
  return error;
}

class HipCaptureMode : public HipCapture {
 protected:
  // Captures in a mode while `call` runs, and ends. What the two answered.
  std::pair<hipError_t, hipError_t> during(hipStreamCaptureMode mode,
                                           const std::function<hipError_t()>& call) {
    begin(mode);
    const hipError_t called = call();
    return {called, end()};
  }
  const std::pair<hipError_t, hipError_t> fine_{hipSuccess, hipSuccess};
  const std::pair<hipError_t, hipError_t> spoiled_{hipErrorStreamCaptureUnsupported,
                                                   hipErrorStreamCaptureInvalidated};
};

TEST_F(HipCaptureMode, ThreadKeepsItsMode) {
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  EXPECT_HIP(hipSuccess, hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  EXPECT_HIP(hipSuccess, hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  mode = static_cast<hipStreamCaptureMode>(3);
  EXPECT_HIP(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_HIP(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(nullptr));
}

TEST_F(HipCaptureMode, GlobalForbidsItToAllThreads) {
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, allocate), spoiled_);
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, [] { return on_another_thread(allocate); }),
            spoiled_);
}

TEST_F(HipCaptureMode, ThreadLocalForbidsItToItsThread) {
  EXPECT_EQ(during(hipStreamCaptureModeThreadLocal, allocate), spoiled_);
  EXPECT_EQ(during(hipStreamCaptureModeThreadLocal, [] { return on_another_thread(allocate); }),
            fine_);
}

TEST_F(HipCaptureMode, RelaxedForbidsItToNobody) {
  EXPECT_EQ(during(hipStreamCaptureModeRelaxed, allocate), fine_);
  EXPECT_EQ(during(hipStreamCaptureModeRelaxed, [] { return on_another_thread(allocate); }), fine_);
}

TEST_F(HipCaptureMode, Rule12_RelaxedThreadMayCallAnything) {
  const auto relaxed = [] {
    const ThreadMode mode(hipStreamCaptureModeRelaxed);
    return allocate();
  };
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, relaxed), fine_);
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, [&] { return on_another_thread(relaxed); }), fine_);
}

TEST_F(HipCaptureMode, ThreadLocalThreadHeedsItsOwnCapturesOnly) {
  const auto local = [] {
    const ThreadMode mode(hipStreamCaptureModeThreadLocal);
    return allocate();
  };
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, local), spoiled_);
  EXPECT_EQ(during(hipStreamCaptureModeGlobal, [&] { return on_another_thread(local); }), fine_);
}

TEST_F(HipCaptureMode, EveryCallThatNoGraphCouldRepeatIsForbidden) {
  void* memory = nullptr;
  void* pinned = nullptr;
  hipModule_t module = nullptr;
  std::vector<char> own(4096);
  const DeviceBuffer kept(64);
  const PinnedBuffer kept_pinned(64);
  ASSERT_HIP(hipSuccess, hipEventRecord(event(), stream()));
  const std::function<hipError_t()> calls[] = {
      [&] { return hipMalloc(&memory, 64); },
      [&] { return hipExtMallocWithFlags(&memory, 8, hipMallocSignalMemory); },
      [&] { return hipMallocManaged(&memory, 64); },
      [&] { return hipFree(kept.data()); },
      [&] { return hipHostMalloc(&pinned, 64, 0); },
      [&] { return hipHostFree(kept_pinned.data()); },
      [&] { return hipHostRegister(own.data(), own.size(), 0); },
      [&] { return hipHostUnregister(own.data()); },
      [&] { return hipMemUnmap(kept.data(), 64); },
      [&] { return hipModuleLoadData(&module, "code"); },
      [&] { return hipEventQuery(event()); }};
  for (const auto& call : calls) {
    EXPECT_EQ(during(hipStreamCaptureModeGlobal, call), spoiled_) << &call - calls;
  }
}

TEST_F(HipCaptureMode, AnotherThreadEndsOnlyARelaxedCapture) {
  const auto end_elsewhere = [&] { return on_another_thread([&] { return end(); }); };
  for (const auto mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal}) {
    begin(mode);
    EXPECT_HIP(hipErrorStreamCaptureWrongThread, end_elsewhere());
    EXPECT_EQ(status_of(stream()), hipStreamCaptureStatusActive);
    EXPECT_HIP(hipSuccess, end());
  }
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_HIP(hipSuccess, end_elsewhere());
}

TEST_F(HipCaptureMode, WorkOfAnotherThreadIsRecordedToo) {
  calls_ = 0;
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_HIP(hipSuccess, on_another_thread([&] {
               return hipLaunchHostFunc(stream(), &HipCapture::count, this);
             }));
  EXPECT_HIP(hipSuccess, end());
  EXPECT_EQ(calls_.load(), 0);
}

}  // namespace
