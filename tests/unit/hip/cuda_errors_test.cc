// SPDX-License-Identifier: MIT
//
// The table from the driver's results to HIP's errors.

#include <gtest/gtest.h>

#include "cuda/cuda_errors.h"

namespace {

using hip_portable::cuda::to_hip;

TEST(CudaErrors, SharedNumbersStay) {
  for (int code : {0, 1, 2, 3, 4, 100, 101, 201, 209, 400, 500, 600, 700, 712, 713, 719, 801, 900,
                   906, 999}) {
    EXPECT_EQ(static_cast<int>(to_hip(code)), code);
  }
}

TEST(CudaErrors, DriverMismatchIsAnInsufficientDriver) {
  EXPECT_EQ(to_hip(34), hipErrorInsufficientDriver);
  EXPECT_EQ(to_hip(803), hipErrorInsufficientDriver);
  EXPECT_EQ(to_hip(804), hipErrorInsufficientDriver);
}

TEST(CudaErrors, CallInsideAHostFunctionIsNotPermitted) {
  EXPECT_EQ(to_hip(800), hipErrorNotPermitted);
}

TEST(CudaErrors, KernelFaultsAreLaunchFailuresOrIllegalAddresses) {
  EXPECT_EQ(to_hip(715), hipErrorLaunchFailure);
  EXPECT_EQ(to_hip(716), hipErrorIllegalAddress);
  EXPECT_EQ(to_hip(220), hipErrorECCNotCorrectable);
}

TEST(CudaErrors, UnknownCodeIsUnknown) {
  EXPECT_EQ(to_hip(-1), hipErrorUnknown);
  EXPECT_EQ(to_hip(4711), hipErrorUnknown);
}

TEST(CudaErrors, EveryAnswerIsACodeOfHip) {
  for (int code = 0; code < 1000; ++code) {
    const hipError_t error = to_hip(code);
    EXPECT_TRUE(error == hipErrorUnknown || static_cast<int>(error) < 999) << code;
    EXPECT_TRUE(code == 0 || error != hipSuccess) << code;
  }
}

}  // namespace
