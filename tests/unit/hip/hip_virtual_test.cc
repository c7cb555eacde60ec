// SPDX-License-Identifier: MIT
//
// Virtual memory: reservations, memory and mappings, and what is refused. On three small devices
// (HIP_PORTABLE_DEVICES=3, HIP_PORTABLE_MEMORY=64M) or those that there are.

#include "hip_virtual_test.h"

namespace {

using namespace hip_test;

TEST_F(HipVirtual, GranularityIsThatOfSizesAndAddresses) {
  const hipMemAllocationProp properties = on_device(0);
  size_t least = 0;
  size_t best = 0;
  EXPECT_HIP(hipSuccess, hipMemGetAllocationGranularity(&least, &properties,
                                                        hipMemAllocationGranularityMinimum));
  EXPECT_HIP(hipSuccess, hipMemGetAllocationGranularity(&best, &properties,
                                                        hipMemAllocationGranularityRecommended));
  EXPECT_EQ(least, kGrain);
  EXPECT_EQ(best, kGrain);
}

TEST_F(HipVirtual, ReservationKeepsAlignmentAndWish) {
  void* first = nullptr;
  ASSERT_HIP(hipSuccess, hipMemAddressReserve(&first, kGrain, 64 * kMiB, nullptr, 0));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % (64 * kMiB), 0U);
  ASSERT_HIP(hipSuccess, hipMemAddressFree(first, kGrain));
  void* second = nullptr;
  ASSERT_HIP(hipSuccess, hipMemAddressReserve(&second, kGrain, 0, first, 0));
  EXPECT_TRUE(second == first || is_on_nvidia()) << "that driver need not hear a wish";
  void* third = nullptr;  // the place is taken: anywhere else
  ASSERT_HIP(hipSuccess, hipMemAddressReserve(&third, kGrain, 0, second, 0));
  EXPECT_NE(third, second);
  EXPECT_HIP(hipSuccess, hipMemAddressFree(third, kGrain));
  EXPECT_HIP(hipSuccess, hipMemAddressFree(second, kGrain));
}

TEST_F(HipVirtual, ReservationTakesNoMemory) {
  void* start = nullptr;
  ASSERT_HIP(hipSuccess, hipMemAddressReserve(&start, 1024 * kMiB, 0, nullptr, 0));
  expect_taken(0);
  EXPECT_HIP(hipSuccess, hipMemAddressFree(start, 1024 * kMiB));
  EXPECT_HIP(hipErrorOutOfMemory, hipMemAddressReserve(&start, size_t{1} << 62, 0, nullptr, 0));
  EXPECT_EQ(start, nullptr);
}

TEST_F(HipVirtual, BadReservationsAreRefused) {
  void* start = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressReserve(nullptr, kGrain, 0, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressReserve(&start, 0, 0, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressReserve(&start, kGrain + 4096, 0, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressReserve(&start, kGrain, 3, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressReserve(&start, kGrain, 0, nullptr, 1));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressFree(nullptr, kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressFree(&start, kGrain));
}

TEST_F(HipVirtual, OnlyAWholeReservationIsFreed) {
  const Reservation range(2 * kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressFree(range.at(), kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressFree(range.at(kGrain), kGrain));
}

TEST_F(HipVirtual, ReservationWithAMappingIsNotFreed) {
  const Reservation range(2 * kGrain);
  range.fill_in(kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemAddressFree(range.at(), 2 * kGrain));
}

TEST_F(HipVirtual, Rule26_MemoryCountsFromCreationToTheLastMapping) {
  const size_t mapped = is_on_nvidia() ? 4 * kGrain : kGrain;
  const Reservation range(4 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(4 * kGrain);
  expect_taken(4 * kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), mapped, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  expect_taken(4 * kGrain, "released, but mapped");
  EXPECT_HIP(hipErrorInvalidValue, hipMemRelease(handle)) << "released before";
  EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), mapped));
  expect_taken(0);
}

// NVIDIA's driver cannot; what it refused leaves the addresses free.
TEST_F(HipVirtual, FirstPartOfMemoryIsMappedWhereTheDriverCan) {
  const Reservation range(2 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(2 * kGrain);
  EXPECT_HIP(is_on_nvidia() ? hipErrorInvalidValue : hipSuccess,
             hipMemMap(range.at(), kGrain, 0, handle, 0));
  if (is_on_nvidia()) {
    EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), kGrain)) << "nothing is mapped";
    EXPECT_HIP(hipSuccess, hipMemMap(range.at(), 2 * kGrain, 0, handle, 0));
  }
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
}

// As PyTorch's expandable segments.
TEST_F(HipVirtual, SegmentsOfAReservationComeAndGo) {
  constexpr size_t kSegment = 2 * kGrain;
  const Reservation range(4 * kSegment);
  hipMemGenericAllocationHandle_t handles[4] = {};
  const auto add = [&](size_t segment) {
    handles[segment] = create(kSegment);
    char* const at = range.at(segment * kSegment);
    ASSERT_HIP(hipSuccess, hipMemMap(at, kSegment, 0, handles[segment], 0));
    ASSERT_HIP(hipSuccess, allow(at, kSegment, hipMemAccessFlagsProtReadWrite));
    ASSERT_HIP(hipSuccess, hipMemset(at, static_cast<int>(segment) + 1, kSegment));
  };
  const auto take_away = [&](size_t segment) {
    EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(segment * kSegment), kSegment));
    EXPECT_HIP(hipSuccess, hipMemRelease(handles[segment]));
  };
  for (const size_t segment : {0, 1, 2, 3}) add(segment);
  for (const size_t segment : {1, 2}) take_away(segment);
  add(2);
  EXPECT_EQ(contents(range.at(3 * kSegment - 1), 2), (std::vector<char>{3, 4}));
  for (const size_t segment : {0, 2, 3}) take_away(segment);
}

TEST_F(HipVirtual, Rule26_MoreThanTheDeviceHasIsRefused) {
  const hipMemAllocationProp properties = on_device(0);
  hipMemGenericAllocationHandle_t handle = nullptr;
  const size_t all = before_ / kGrain * kGrain;
  const size_t more = is_on_gpu() ? 2 * all : all + kGrain;
  EXPECT_HIP(hipErrorOutOfMemory, hipMemCreate(&handle, more, &properties, 0));
  EXPECT_EQ(handle, nullptr);
  if (is_on_gpu()) return;  // where others need the rest
  const DeviceBuffer other(all - 2 * kGrain);
  EXPECT_HIP(hipErrorOutOfMemory, hipMemCreate(&handle, 3 * kGrain, &properties, 0));
}

TEST_F(HipVirtual, BadMemoryIsRefused) {
  hipMemGenericAllocationHandle_t handle = nullptr;
  hipMemAllocationProp properties = on_device(0);
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(nullptr, kGrain, &properties, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, kGrain, nullptr, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, 0, &properties, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, 4096, &properties, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, kGrain, &properties, 1));
  properties.location.id = device_count();
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, kGrain, &properties, 0));
  properties = on_device(0);
  properties.type = hipMemAllocationTypeInvalid;
  EXPECT_HIP(hipErrorInvalidValue, hipMemCreate(&handle, kGrain, &properties, 0));
  properties = on_device(0);
  properties.location.type = hipMemLocationTypeHost;
  EXPECT_HIP(hipErrorNotSupported, hipMemCreate(&handle, kGrain, &properties, 0));
  properties = on_device(0);
  properties.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
  EXPECT_HIP(hipErrorNotSupported, hipMemCreate(&handle, kGrain, &properties, 0));
}

TEST_F(HipVirtual, BadMappingsAreRefused) {
  const Reservation range(2 * kGrain);
  const Reservation other(kGrain);
  const hipMemGenericAllocationHandle_t handle = create(2 * kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(nullptr, kGrain, 0, handle, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(4096), kGrain, 0, handle, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), 4096, 0, handle, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), kGrain, kGrain, handle, 0)) << "offset";
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), kGrain, 0, handle, 1)) << "flags";
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), kGrain, 0, nullptr, 0)) << "no memory";
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(kGrain), 2 * kGrain, 0, handle, 0))
      << "beyond the reservation";
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(other.at(), 2 * kGrain, 0, handle, 0));
  const DeviceBuffer device(kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(device.data(), kGrain, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), kGrain, 0, handle, 0)) << "released";
}

TEST_F(HipVirtual, MappingBeyondTheMemoryIsRefused) {
  const Reservation range(2 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemMap(range.at(), 2 * kGrain, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
}

TEST_F(HipVirtual, OverlappingMappingIsRefused) {
  const Reservation range(3 * kGrain);
  const Reservation other(2 * kGrain);
  hipMemGenericAllocationHandle_t handles[] = {create(kGrain), create(2 * kGrain),
                                               create(3 * kGrain)};
  const auto map = [&](char* at, size_t grains) {
    return hipMemMap(at, grains * kGrain, 0, handles[grains - 1], 0);
  };
  range.fill_in(kGrain);
  EXPECT_HIP(hipErrorInvalidValue, map(range.at(kGrain), 1));
  EXPECT_HIP(hipErrorInvalidValue, map(range.at(kGrain), 2));
  EXPECT_HIP(hipErrorInvalidValue, map(range.at(), 2));
  EXPECT_HIP(hipErrorInvalidValue, map(range.at(), 3));
  EXPECT_HIP(hipSuccess, map(range.at(2 * kGrain), 1));
  ASSERT_HIP(hipSuccess, map(other.at(), 2));
  EXPECT_HIP(hipErrorInvalidValue, map(other.at(kGrain), 1));
  for (const hipMemGenericAllocationHandle_t handle : handles) {
    EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  }
}

TEST_F(HipVirtual, OnlyWholeMappingsAreUnmapped) {
  const Reservation range(4 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(2 * kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), 2 * kGrain, 0, handle, 0));
  range.fill_in(2 * kGrain);
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(kGrain), kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), 4 * kGrain)) << "a gap at the end";
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(3 * kGrain), kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), 4096));
  EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), 3 * kGrain)) << "two neighbours";
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), 3 * kGrain)) << "unmapped before";
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
}

}  // namespace
