// SPDX-License-Identifier: MIT
//
// Virtual memory of NVIDIA's driver, seen by a program: memory of several handles in one range, as
// PyTorch's expandable segments are, and pointers into the middle of it.

#include "hip_virtual_test.h"

namespace {

using namespace hip_test;

class CudaVirtual : public testing::Test {
 protected:
  void SetUp() override {
    if (hipPortableDeviceIsEmulated(0) != 0) GTEST_SKIP() << "the emulated device has its own";
  }
};

TEST_F(CudaVirtual, MiddleOfSeveralHandlesGivesTheWholeRange) {
  const Reservation range(8 * kGrain);
  for (const size_t grain : {1, 2, 3, 5}) range.fill_in(grain * kGrain);
  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  for (const size_t offset : {kGrain, 2 * kGrain + 100, 4 * kGrain - 1}) {
    ASSERT_HIP(hipSuccess, hipMemGetAddressRange(&base, &size, range.at(offset)));
    EXPECT_EQ(base, range.at(kGrain));
    EXPECT_EQ(size, 3 * kGrain);
  }
  ASSERT_HIP(hipSuccess, hipMemGetAddressRange(&base, &size, range.at(5 * kGrain + 7)));
  EXPECT_EQ(base, range.at(5 * kGrain));
  EXPECT_EQ(size, kGrain);
  hipPointerAttribute_t attributes;
  ASSERT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, range.at(3 * kGrain + 9)));
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
}

TEST_F(CudaVirtual, CopiesCrossTheBordersOfMappingsAndNoFurther) {
  const Reservation range(4 * kGrain);
  range.fill_in(0);
  range.fill_in(kGrain);
  const std::vector<char> sent = pattern(kMiB);
  char* const middle = range.at(kGrain - kMiB / 2);
  ASSERT_HIP(hipSuccess, hipMemcpy(middle, sent.data(), kMiB, hipMemcpyHostToDevice));
  EXPECT_EQ(contents(middle, kMiB), sent);
  char* const end = range.at(2 * kGrain - kMiB + 1);
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(end, sent.data(), kMiB, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(3 * kGrain), 0, 16));
  (void)hipGetLastError();
}

TEST_F(CudaVirtual, AddressesWithoutMemoryAreRefused) {
  const Reservation range(2 * kGrain);
  hipPointerAttribute_t attributes;
  EXPECT_HIP(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, range.at(kGrain)));
  char byte = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(range.at(), &byte, 1, hipMemcpyDefault));
  (void)hipGetLastError();
}

TEST_F(CudaVirtual, MemoryIsClosedUntilADeviceGetsAccess) {
  const Reservation range(kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(), 1, 16));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(), 1, 16));
  unsigned long long flags = 0;
  const hipMemLocation location{hipMemLocationTypeDevice, 0};
  EXPECT_HIP(hipSuccess, hipMemGetAccess(&flags, &location, range.at()));
  EXPECT_EQ(flags, hipMemAccessFlagsProtReadWrite);
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  (void)hipGetLastError();
}

TEST_F(CudaVirtual, HandlesThatWereNotGivenAreRefused) {
  const Reservation range(2 * kGrain);
  auto* const made_up = reinterpret_cast<hipMemGenericAllocationHandle_t>(uintptr_t{0x1234});
  EXPECT_HIP(hipErrorInvalidValue, hipMemRelease(made_up));
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), kGrain, 0, made_up, 0));
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), 2 * kGrain, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  EXPECT_HIP(hipErrorInvalidValue, hipMemRelease(handle));
  (void)hipGetLastError();
}

TEST_F(CudaVirtual, RetainedHandleKeepsItsMemory) {
  const Reservation range(2 * kGrain);
  range.fill_in(0);
  hipMemGenericAllocationHandle_t handle = nullptr;
  ASSERT_HIP(hipSuccess, hipMemRetainAllocationHandle(&handle, range.at(100)));
  ASSERT_HIP(hipSuccess, hipMemset(range.at(), 5, kGrain));
  ASSERT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(kGrain), kGrain, 0, handle, 0));
  ASSERT_HIP(hipSuccess, allow(range.at(kGrain), kGrain, hipMemAccessFlagsProtReadWrite));
  EXPECT_EQ(contents(range.at(kGrain), kGrain), std::vector<char>(kGrain, 5));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
}

}  // namespace
