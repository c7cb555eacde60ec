// SPDX-License-Identifier: MIT
//
// Code of programs: loaded, found, launched, refused. On a device that runs code; where there is no
// GPU, the fake driver plays it.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <numeric>
#include <string>

#include "device_buffer.h"
#include "kernels.h"
#include "pattern.h"

namespace {

using hipfile::test::Buffer;
using hipfile::test::Kernels;
using hipfile::test::make_pattern;
using hipfile::test::number;

constexpr size_t kSize = 100003;
// As hipfile_test_add in kernels.cu is called, beside a kernel that does nothing.
constexpr char kImage[] = R"(
.version 5.0
.target sm_60
.address_size 64
.visible .entry hipfile_test_add(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }
)";

class HipModule : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernels_.are_there()) GTEST_SKIP() << kernels_.why();
    ASSERT_EQ(hipSuccess, hipModuleLoadData(&module_, kImage));
  }
  void TearDown() override {
    if (module_ != nullptr) {
      EXPECT_EQ(hipSuccess, hipModuleUnload(module_));
    }
    (void)hipGetLastError();
  }
  static hipError_t launch(hipFunction_t kernel, unsigned blocks, void** parameters, void** extra,
                           hipStream_t stream = nullptr) {
    return hipModuleLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, 0, stream, parameters, extra);
  }
  hipFunction_t kernel() {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipSuccess, hipModuleGetFunction(&found, module_, "hipfile_test_add"));
    return found;
  }

  Kernels kernels_;
  hipModule_t module_ = nullptr;
};

TEST_F(HipModule, KernelsSeeAndChangeDeviceMemory) {
  std::vector<uint8_t> bytes = make_pattern(kSize, 5);
  Buffer memory(kSize), sum(sizeof(uint64_t)), wrong(sizeof(uint64_t));
  memory.set(bytes);
  sum.fill(0);
  wrong.fill(0);
  auto* const count = static_cast<uint64_t*>(wrong.data());
  kernels_.sum(memory.data(), kSize, static_cast<uint64_t*>(sum.data()), nullptr);
  kernels_.count_wrong(memory.data(), kSize, 5, 0, count, nullptr);
  kernels_.add(memory.data(), kSize, 3, nullptr);
  ASSERT_EQ(hipSuccess, hipDeviceSynchronize());
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}), number(sum));
  EXPECT_EQ(0u, number(wrong));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte + 3);
  EXPECT_EQ("", hipfile::test::first_difference(memory.get(), bytes));
  kernels_.fill(memory.at(1), kSize - 1, 7, 12345, nullptr);
  kernels_.count_wrong(memory.data(), kSize, 7, 12344, count, nullptr);
  ASSERT_EQ(hipSuccess, hipDeviceSynchronize());
  EXPECT_EQ(1u, number(wrong));  // the first byte, which was left
}

TEST_F(HipModule, AKernelHasOneHandle) {
  EXPECT_EQ(kernel(), kernel());
  hipFunction_t found = nullptr;
  EXPECT_EQ(hipErrorNotFound, hipModuleGetFunction(&found, module_, "nobody"));
  EXPECT_EQ(nullptr, found);
}

TEST_F(HipModule, WhatIsNoImageIsRefused) {
  hipModule_t module = module_;
  EXPECT_NE(hipSuccess, hipModuleLoadData(&module, "code"));
  EXPECT_EQ(nullptr, module);
}

TEST_F(HipModule, HandlesEndWithTheModule) {
  const hipFunction_t known = kernel();
  EXPECT_EQ(hipSuccess, hipModuleUnload(module_));
  EXPECT_EQ(hipErrorInvalidDeviceFunction, launch(known, 1, nullptr, nullptr));
  hipFunction_t found = nullptr;
  EXPECT_EQ(hipErrorInvalidHandle, hipModuleGetFunction(&found, module_, "hipfile_test_add"));
  EXPECT_EQ(hipErrorInvalidHandle, hipModuleUnload(module_));
  module_ = nullptr;
}

TEST_F(HipModule, LaunchesThatCannotBeAreRefused) {
  uint64_t zero = 0;
  void* parameters[] = {&zero, &zero, &zero};
  void* extra[] = {HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(hipErrorInvalidValue, launch(kernel(), 0, parameters, nullptr));
  EXPECT_EQ(hipErrorInvalidValue, launch(kernel(), 1, parameters, extra));
  void* unknown[] = {&zero, &zero, HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(hipErrorInvalidValue, launch(kernel(), 1, nullptr, unknown));
  EXPECT_EQ(hipErrorInvalidHandle,
            launch(kernel(), 1, parameters, nullptr, reinterpret_cast<hipStream_t>(0x4750)));
  EXPECT_EQ(hipSuccess, launch(kernel(), 1, parameters, nullptr));
  EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
}

TEST_F(HipModule, ParametersMayBePacked) {
  uint64_t packed[3] = {};
  size_t size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(hipSuccess, launch(kernel(), 1, nullptr, extra));
  EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
}

// Nobody knows how large the parameters are that a graph would have to keep.
TEST_F(HipModule, ACaptureRefusesLaunches) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSuccess, hipStreamCreate(&stream));
  const hipFunction_t known = kernel();
  uint64_t zero = 0;
  void* parameters[] = {&zero, &zero, &zero};
  ASSERT_EQ(hipSuccess, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  EXPECT_EQ(hipErrorStreamCaptureUnsupported, launch(known, 1, parameters, nullptr, stream));
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
  EXPECT_EQ(hipSuccess, launch(known, 1, parameters, nullptr, stream));
  EXPECT_EQ(hipSuccess, hipStreamDestroy(stream));
}

TEST_F(HipModule, AResetEndsModules) {
  const hipFunction_t known = kernel();
  ASSERT_EQ(hipSuccess, hipDeviceReset());
  EXPECT_EQ(hipErrorInvalidDeviceFunction, launch(known, 1, nullptr, nullptr));
  EXPECT_EQ(hipErrorInvalidHandle, hipModuleUnload(module_));
  module_ = nullptr;
}

}  // namespace
