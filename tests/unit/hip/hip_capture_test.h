// SPDX-License-Identifier: MIT
//
// What the tests of stream capture share: a stream, an event, and the graph of the last capture.
#pragma once

#include "hip_test.h"

namespace hip_test {

class HipCapture : public testing::Test {
 protected:
  HipCapture() : stream_(hipStreamNonBlocking) { EXPECT_HIP(hipSuccess, hipEventCreate(&event_)); }
  ~HipCapture() override {
    (void)hipGraphDestroy(graph_);
    (void)hipEventDestroy(event_);
  }

  hipStream_t stream() const { return stream_.get(); }
  hipEvent_t event() const { return event_; }

  void begin(hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) const {
    EXPECT_HIP(hipSuccess, hipStreamBeginCapture(stream(), mode));
  }
  hipError_t end() {
    (void)hipGraphDestroy(graph_);
    return hipStreamEndCapture(stream(), &graph_);
  }

  static hipStreamCaptureStatus status_of(hipStream_t stream) {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    EXPECT_HIP(hipSuccess, hipStreamIsCapturing(stream, &status));
    return status;
  }

  static void count(void* test) { ++static_cast<HipCapture*>(test)->calls_; }

  std::atomic<int> calls_{0};
  hipGraph_t graph_ = nullptr;

 private:
  TestStream stream_;
  hipEvent_t event_ = nullptr;
};

}  // namespace hip_test
