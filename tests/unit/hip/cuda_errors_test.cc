// SPDX-License-Identifier: MIT
//
// The table from the driver's results to HIP's errors.

#include "cuda/cuda_errors.h"

#include <gtest/gtest.h>

namespace {

using hip_portable::cuda::to_hip;

TEST(CudaErrors, SharedNumbersStay) {
  for (int code :
       {0, 1, 2, 3, 4, 100, 101, 201, 209, 400, 500, 600, 700, 712, 713, 719, 801, 900, 906, 999}) {
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

// Every CUresult of CUDA 13.3, by number.
constexpr int kDriverCodes[] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   34,  36,  46,  100, 101, 102, 200, 201, 202,
    205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222,
    223, 224, 225, 226, 300, 301, 302, 303, 304, 400, 401, 402, 500, 600, 700, 701, 702, 703,
    704, 705, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 721, 800, 801,
    802, 803, 804, 805, 806, 807, 808, 809, 810, 811, 812, 900, 901, 902, 903, 904, 905, 906,
    907, 908, 909, 910, 911, 912, 913, 914, 915, 916, 917, 918, 999};
TEST(CudaErrors, NoCodeOfTheDriverIsUnmapped) {
  for (const int code : kDriverCodes) {
    EXPECT_EQ(to_hip(code) == hipErrorUnknown, code == 999) << code;
  }
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
