// SPDX-License-Identifier: MIT
//
// Virtual memory in use: copies, access, what pointers say, order with work.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "hip_virtual_test.h"

namespace {

using namespace hip_test;

TEST_F(HipVirtual, Rule27_CopiesCrossTheBordersOfMappings) {
  const Reservation range(3 * kGrain);
  for (size_t i = 0; i < 3; ++i) range.fill_in(i * kGrain);
  const std::vector<char> bytes = pattern(2 * kGrain + 777);
  ASSERT_HIP(hipSuccess,
             hipMemcpy(range.at(1000), bytes.data(), bytes.size(), hipMemcpyHostToDevice));
  EXPECT_EQ(contents(range.at(1000), bytes.size()), bytes);
  ASSERT_HIP(hipSuccess, hipMemset(range.at(kGrain - 8), 5, 16));
  EXPECT_EQ(contents(range.at(kGrain - 8), 16), std::vector<char>(16, 5));
  EXPECT_HIP(hipErrorInvalidValue,
             hipMemcpy(range.at(kGrain + 1000), bytes.data(), bytes.size(), hipMemcpyDefault))
      << "beyond the last mapping";
}

TEST_F(HipVirtual, MemoryMappedAtTwoPlacesIsTheSame) {
  const Reservation range(3 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(2 * kGrain), kGrain, 0, handle, 0));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite));
  ASSERT_HIP(hipSuccess, allow(range.at(2 * kGrain), kGrain, hipMemAccessFlagsProtRead));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  const std::vector<char> bytes = pattern(kGrain);
  ASSERT_HIP(hipSuccess, hipMemcpy(range.at(), bytes.data(), kGrain, hipMemcpyDefault));
  EXPECT_EQ(contents(range.at(2 * kGrain), kGrain), bytes);
  EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
  expect_taken(2 * kMiB, "one mapping is left");
  EXPECT_EQ(contents(range.at(2 * kGrain), kGrain), bytes);
}

TEST_F(HipVirtual, MemoryKeepsItsBytesWhenItMoves) {
  const Reservation range(2 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  const std::vector<char> bytes = pattern(kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite));
  ASSERT_HIP(hipSuccess, hipMemcpy(range.at(), bytes.data(), kGrain, hipMemcpyDefault));
  ASSERT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(kGrain), kGrain, 0, handle, 0));
  ASSERT_HIP(hipSuccess, allow(range.at(kGrain), kGrain, hipMemAccessFlagsProtReadWrite));
  EXPECT_EQ(contents(range.at(kGrain), kGrain), bytes);
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
}

TEST_F(HipVirtual, AccessIsAtFirstNoneThenAsSet) {
  const Reservation range(kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  char byte = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(&byte, range.at(), 1, hipMemcpyDeviceToHost));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(), 0, 4));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(), 0, 4));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtRead));
  EXPECT_HIP(hipSuccess, hipMemcpy(&byte, range.at(), 1, hipMemcpyDeviceToHost));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(range.at(), &byte, 1, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(), 1, 1));
  EXPECT_HIP(hipSuccess, hipStreamWaitValue32(nullptr, range.at(), 0, hipStreamWaitValueGte));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamWriteValue32(nullptr, range.at(), 1, 0));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(), 1, 1));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtNone));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(&byte, range.at(), 1, hipMemcpyDeviceToHost));
}

TEST_F(HipVirtual, AccessIsThatOfEachMapping) {
  const Reservation range(2 * kGrain);
  range.fill_in(0);
  range.fill_in(kGrain, hipMemAccessFlagsProtRead);
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(kGrain - 1), 1, 2));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(kGrain - 1), 1, 1));
  EXPECT_EQ(contents(range.at(kGrain - 1), 2).size(), 2U);
  unsigned long long flags = 0;
  const hipMemLocation device{hipMemLocationTypeDevice, 0};
  EXPECT_HIP(hipSuccess, hipMemGetAccess(&flags, &device, range.at(kGrain + 5)));
  EXPECT_EQ(flags, static_cast<unsigned>(hipMemAccessFlagsProtRead));
}

TEST_F(HipVirtual, AccessIsTheDevicesOwn) {
  if (device_count() < 2) GTEST_SKIP() << "needs two devices";
  const Reservation range(kGrain);
  range.fill_in(0);
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(range.at(), 1, 1));
  ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtReadWrite, 1));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(), 1, 1));
}

TEST_F(HipVirtual, BadAccessIsRefused) {
  const Reservation range(2 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(2 * kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), 2 * kGrain, 0, handle, 0));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(nullptr, kGrain, &access, 1));
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), 2 * kGrain, nullptr, 1));
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), 2 * kGrain, &access, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), kGrain, &access, 1)) << "a part";
  access.location.id = device_count();
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), 2 * kGrain, &access, 1));
  access = {{hipMemLocationTypeHost, 0}, hipMemAccessFlagsProtReadWrite};
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), 2 * kGrain, &access, 1));
  access = {{hipMemLocationTypeDevice, 0}, static_cast<hipMemAccessFlags>(2)};
  EXPECT_HIP(hipErrorInvalidValue, hipMemSetAccess(range.at(), 2 * kGrain, &access, 1));
}

TEST_F(HipVirtual, PointerIsDeviceMemoryOfItsMemorysDevice) {
  const int last = device_count() - 1;
  const Reservation range(3 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain, last);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(kGrain), kGrain, 0, handle, 0));
  range.fill_in(2 * kGrain);
  hipPointerAttribute_t attributes;
  EXPECT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, range.at(kGrain + 9)));
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, last);
  EXPECT_EQ(attributes.devicePointer, range.at(kGrain + 9));
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_HIP(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, range.at()));
  hipMemAllocationProp properties{};
  EXPECT_HIP(hipSuccess, hipMemGetAllocationPropertiesFromHandle(&properties, handle));
  EXPECT_EQ(properties.location.id, last);
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  void* base = nullptr;
  size_t size = 0;
  EXPECT_HIP(hipSuccess, hipMemGetAddressRange(&base, &size, range.at(2 * kGrain + 1)));
  const char* const end = static_cast<char*>(base) + size;
  EXPECT_EQ(end, range.at(3 * kGrain));
  // On NVIDIA's devices only neighbours of one device are one range.
  EXPECT_EQ(base, range.at(is_on_nvidia() && last != 0 ? 2 * kGrain : kGrain));
  EXPECT_HIP(hipErrorNotFound, hipMemGetAddressRange(&base, &size, range.at()));
}

TEST_F(HipVirtual, OtherCallsRefuseMappedMemory) {
  const Reservation range(2 * kGrain);
  range.fill_in(0);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(range.at()));
  EXPECT_HIP(hipErrorInvalidValue, hipFreeAsync(range.at(), nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipHostFree(range.at()));
  EXPECT_HIP(hipErrorInvalidValue, hipHostRegister(range.at(), 4096, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipHostRegister(range.at(kGrain), 4096, 0));
}

TEST_F(HipVirtual, RetainedHandleIsReleasedTwice) {
  const Reservation range(kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  hipMemGenericAllocationHandle_t again = nullptr;
  EXPECT_HIP(hipSuccess, hipMemRetainAllocationHandle(&again, range.at(100)));
  EXPECT_EQ(again, handle);
  EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
  EXPECT_HIP(hipErrorInvalidValue, hipMemRetainAllocationHandle(&again, range.at()));
  EXPECT_HIP(hipSuccess, hipMemRelease(handle));
  expect_taken(2 * kMiB);
  EXPECT_HIP(hipSuccess, hipMemRelease(again));
}

TEST_F(HipVirtual, UnmapWaitsForWork) {
  const Reservation range(kGrain);
  range.fill_in(0);
  const TestStream stream(hipStreamNonBlocking);
  const PinnedBuffer source(kGrain);
  std::memset(source.data(), 7, kGrain);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess,
             hipMemcpyAsync(range.at(), source.data(), kGrain, hipMemcpyDefault, stream.get()));
  std::atomic<bool> is_unmapped{false};
  std::thread other([&] {
    EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
    is_unmapped = true;
  });
  let_others_run();
  EXPECT_FALSE(is_unmapped.load());
  expect_taken(2 * kMiB);
  gate.open();
  other.join();
}

TEST_F(HipVirtual, StreamsWaitForValuesInIt) {
  const Reservation range(2 * kGrain);
  range.fill_in(kGrain);
  const TestStream waits(hipStreamNonBlocking);
  const TestStream writes(hipStreamNonBlocking);
  ASSERT_HIP(hipSuccess, hipMemset(range.at(kGrain), 0, 8));
  ASSERT_HIP(hipSuccess,
             hipStreamWaitValue64(waits.get(), range.at(kGrain), 9, hipStreamWaitValueEq));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(waits.get()));
  ASSERT_HIP(hipSuccess, hipStreamWriteValue64(writes.get(), range.at(kGrain), 9, 0));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(waits.get()));
}

TEST_F(HipVirtual, ResetFreesMemoryOfItsDeviceOnly) {
  if (is_on_nvidia()) GTEST_SKIP() << "there it belongs to no context, and outlives it";
  const Reservation range(2 * kGrain);
  const hipMemGenericAllocationHandle_t handle = create(kGrain, 1);
  ASSERT_HIP(hipSuccess, hipMemMap(range.at(), kGrain, 0, handle, 0));
  range.fill_in(kGrain);
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  EXPECT_HIP(hipSuccess, hipDeviceReset());
  expect_taken(0);
  EXPECT_HIP(hipErrorInvalidValue, hipMemRelease(handle));
  EXPECT_HIP(hipErrorInvalidValue, hipMemUnmap(range.at(), kGrain));
  ASSERT_HIP(hipSuccess, hipSetDevice(0));
  EXPECT_HIP(hipSuccess, hipMemset(range.at(kGrain), 1, kGrain));
}

TEST_F(HipVirtual, Rule27_ProgramsViewIsClosedInStrictMode) {
  if (is_on_nvidia()) GTEST_SKIP() << "the program has no view of device memory";
  const Reservation range(kGrain);
  range.fill_in(0);
  ASSERT_HIP(hipSuccess, hipMemset(range.at(), 3, kGrain));
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zero, 0);
  if (is_strict()) {
    EXPECT_EQ(read(zero, range.at(), 4096), -1);
    EXPECT_EQ(errno, EFAULT);
    const volatile char* const data = range.at();
    EXPECT_DEATH((void)data[0], "");
  } else {
    EXPECT_EQ(range.at()[kGrain - 1], 3);
    EXPECT_EQ(read(zero, range.at(), 4096), 4096);
    ASSERT_HIP(hipSuccess, allow(range.at(), kGrain, hipMemAccessFlagsProtRead));
    EXPECT_EQ(read(zero, range.at(), 4096), -1);
    EXPECT_EQ(range.at()[0], 0);
  }
  close(zero);
}

TEST_F(HipVirtual, AddressesWithoutMemoryAreClosedToTheProgram) {
  const Reservation range(kGrain);
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zero, 0);
  EXPECT_EQ(read(zero, range.at(), 4096), -1);
  range.fill_in(0);
  EXPECT_HIP(hipSuccess, hipMemUnmap(range.at(), kGrain));
  EXPECT_EQ(read(zero, range.at(), 4096), -1);
  close(zero);
}

}  // namespace
