// SPDX-License-Identifier: MIT
//
// Code for a GPU does not run here, and the calls say so.

#include <hip/hip_portable.h>
#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

namespace {

TEST(HipCode, Rule28_ModuleHasNoBinaryForTheEmulatedDevice) {
  if (hipPortableDeviceIsEmulated(0) == 0) GTEST_SKIP() << "the device is a GPU";
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, "code"), hipErrorNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(nullptr, "code"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleUnload(module), hipErrorInvalidHandle);
}

TEST(HipCode, Rule28_LaunchNamesAnInvalidFunction) {
  int kernel = 0;
  EXPECT_EQ(hipLaunchKernel(&kernel, dim3(1), dim3(1), nullptr), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipLaunchKernel(nullptr, dim3(1), dim3(1), nullptr), hipErrorInvalidValue);
  auto* function = reinterpret_cast<hipFunction_t>(&kernel);
  EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidDeviceFunction);
}

}  // namespace
