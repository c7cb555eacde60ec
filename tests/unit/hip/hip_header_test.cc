// SPDX-License-Identifier: MIT
//
// The HIP headers as C++: the same layouts as in C, default arguments, typed forms of the
// allocators, and the texts of the error codes.

#include <hip/hip_portable.h>
#include <hip/hip_runtime.h>

#include <cstring>
#include <type_traits>

#include <gtest/gtest.h>

extern "C" int hip_header_c_answer(void);

namespace {

static_assert(sizeof(hipDeviceProp_t) == 1472);
static_assert(sizeof(hipPointerAttribute_t) == 32);
static_assert(sizeof(hipMemAllocationProp) == 32);
static_assert(sizeof(dim3) == 12 && std::is_standard_layout_v<dim3>);
static_assert(std::is_pointer_v<hipStream_t> && std::is_same_v<hipDeviceptr_t, void*>);

// Compiled, never called: each line is a form that programs use.
[[maybe_unused]] hipError_t use_default_arguments(float* pointer, hipEvent_t event,
                                                  hipStream_t stream) {
  hipError_t results[] = {
      hipMalloc(&pointer, 4),
      hipMallocManaged(&pointer, 4),
      hipMallocAsync(&pointer, 4, stream),
      hipHostMalloc(&pointer, 4),
      hipHostAlloc(&pointer, 4),
      hipMallocHost(&pointer, 4),
      hipMemcpyAsync(pointer, pointer, 4, hipMemcpyDefault),
      hipMemsetAsync(pointer, 0, 4),
      hipEventRecord(event),
      hipStreamWaitEvent(stream, event),
      hipStreamWaitValue32(stream, pointer, 1, hipStreamWaitValueGte),
      hipStreamWaitValue64(stream, pointer, 1, hipStreamWaitValueGte),
      hipLaunchKernel(pointer, dim3(1), 64, nullptr),
  };
  return results[0];
}

TEST(HipHeader, CompilesAndLinksAsC) { EXPECT_EQ(hip_header_c_answer(), 1); }

TEST(HipHeader, DimensionsDefaultToOne) {
  const dim3 block(64);
  EXPECT_EQ(block.x, 64U);
  EXPECT_EQ(block.y, 1U);
  EXPECT_EQ(block.z, 1U);
}

TEST(HipErrors, NameIsTheEnumerator) {
  EXPECT_STREQ(hipGetErrorName(hipSuccess), "hipSuccess");
  EXPECT_STREQ(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory");
  EXPECT_STREQ(hipGetErrorName(hipErrorRuntimeOther), "hipErrorRuntimeOther");
}

TEST(HipErrors, UnknownCodeStillHasAText) {
  const auto unknown = static_cast<hipError_t>(77);
  EXPECT_STREQ(hipGetErrorName(unknown), "hipErrorUnknown");
  EXPECT_NE(std::strlen(hipGetErrorString(unknown)), 0U);
}

TEST(HipErrors, DriverFormRefusesAnUnknownCode) {
  const char* text = "untouched";
  EXPECT_EQ(hipDrvGetErrorName(static_cast<hipError_t>(77), &text), hipErrorInvalidValue);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(hipDrvGetErrorString(hipErrorNoDevice, &text), hipSuccess);
  EXPECT_STREQ(text, hipGetErrorString(hipErrorNoDevice));
}

TEST(HipErrors, DriverFormRefusesNull) {
  EXPECT_EQ(hipDrvGetErrorName(hipSuccess, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDrvGetErrorString(hipSuccess, nullptr), hipErrorInvalidValue);
}

}  // namespace
