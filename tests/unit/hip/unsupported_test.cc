// SPDX-License-Identifier: MIT
//
// What the runtime does not offer yet is said, not pretended.

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

namespace {

TEST(HipUnsupported, ModuleHasNoBinaryForTheEmulatedDevice) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, "code"), hipErrorNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(nullptr, "code"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleUnload(module), hipErrorInvalidHandle);
}

TEST(HipUnsupported, LaunchNamesAnInvalidFunction) {
  int kernel = 0;
  EXPECT_EQ(hipLaunchKernel(&kernel, dim3(1), dim3(1), nullptr), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipLaunchKernel(nullptr, dim3(1), dim3(1), nullptr), hipErrorInvalidValue);
  auto* function = reinterpret_cast<hipFunction_t>(&kernel);
  EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidDeviceFunction);
}

TEST(HipUnsupported, NoStreamCaptures) {
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeRelaxed), hipErrorNotSupported);
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  EXPECT_EQ(hipStreamIsCapturing(nullptr, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  unsigned long long id = 0;
  EXPECT_EQ(hipStreamGetCaptureInfo(nullptr, &status, &id), hipSuccess);
  EXPECT_EQ(hipStreamIsCapturing(nullptr, nullptr), hipErrorInvalidValue);
}

TEST(HipUnsupported, CaptureModeIsKeptForTheThread) {
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  mode = static_cast<hipStreamCaptureMode>(3);
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
}

}  // namespace
