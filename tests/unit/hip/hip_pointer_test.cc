// SPDX-License-Identifier: MIT
//
// What the runtime says of pointers, and what strict mode forbids.

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "hip_test.h"

namespace {

using namespace hip_test;

hipPointerAttribute_t attributes_of(const void* pointer) {
  hipPointerAttribute_t attributes{};
  EXPECT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, pointer));
  return attributes;
}

TEST(HipPointers, InnerPointerOfDeviceMemoryIsDeviceMemory) {
  const DeviceBuffer buffer(10000);
  const hipPointerAttribute_t attributes = attributes_of(buffer.data() + 9999);
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, buffer.data() + 9999);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(attributes.isManaged, 0);
}

TEST(HipPointers, PinnedMemoryIsHostMemory) {
  const PinnedBuffer buffer(64);
  const hipPointerAttribute_t attributes = attributes_of(buffer.data() + 1);
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, buffer.data() + 1);
}

TEST(HipPointers, ManagedMemorySaysSo) {
  void* managed = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocManaged(&managed, 64));
  const hipPointerAttribute_t attributes = attributes_of(managed);
  EXPECT_EQ(attributes.type, hipMemoryTypeManaged);
  EXPECT_EQ(attributes.isManaged, 1);
  EXPECT_EQ(attributes.hostPointer, managed);
  EXPECT_HIP(hipSuccess, hipFree(managed));
}

TEST(HipPointers, PlainMemoryIsUnregisteredWithSuccess) {
  int local = 0;
  const hipPointerAttribute_t attributes = attributes_of(&local);
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, hipInvalidDeviceId);
  EXPECT_EQ(attributes.devicePointer, nullptr);
}

TEST(HipPointers, NullIsRefused) {
  hipPointerAttribute_t attributes;
  EXPECT_HIP(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipPointerGetAttributes(nullptr, &attributes));
}

// The emulated device knows its addresses for ever, a driver forgets them.
TEST(HipPointers, FreedDeviceMemoryIsNoMore) {
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&pointer, 64));
  ASSERT_HIP(hipSuccess, hipFree(pointer));
  hipPointerAttribute_t attributes;
  const hipError_t error = hipPointerGetAttributes(&attributes, pointer);
  EXPECT_HIP(is_on_nvidia() ? hipSuccess : hipErrorInvalidValue, error);
  if (error != hipSuccess) return;
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
}

TEST(HipPointers, AddressRangeIsTheAllocationAsAskedFor) {
  const DeviceBuffer buffer(10001);
  void* base = nullptr;
  size_t size = 0;
  EXPECT_HIP(hipSuccess, hipMemGetAddressRange(&base, &size, buffer.data() + 10000));
  EXPECT_EQ(base, buffer.data());
  EXPECT_EQ(size, 10001U);
}

TEST(HipPointers, AddressBehindTheAllocationHasNoRange) {
  const DeviceBuffer buffer(10001);
  void* base = nullptr;
  size_t size = 0;
  EXPECT_HIP(hipErrorNotFound, hipMemGetAddressRange(&base, &size, buffer.data() + 10001));
  EXPECT_HIP(hipErrorNotFound, hipMemGetAddressRange(&base, &size, &size));
}

// The program's view of device memory: a GPU has none for it.
bool is_closed() { return is_strict() || is_on_nvidia(); }

// True if an access of the program traps. Not by a death test: a child of fork has no device
// memory at all, so it would trap in any case.
template <typename Access>
bool traps(Access access) {
  static sigjmp_buf before;
  struct sigaction ours = {};
  struct sigaction theirs = {};
  ours.sa_handler = [](int) { siglongjmp(before, 1); };
  sigaction(SIGSEGV, &ours, &theirs);
  const bool has_trapped = sigsetjmp(before, 1) != 0;
  if (!has_trapped) access();
  sigaction(SIGSEGV, &theirs, nullptr);
  return has_trapped;
}

TEST(HipStrict, Rule27_AccessByTheProgramTraps) {
  const DeviceBuffer buffer(4096);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 1, 4096));
  volatile char* const data = buffer.data();
  EXPECT_EQ(traps([&] { (void)data[0]; }), is_closed());
  EXPECT_EQ(traps([&] { data[0] = 1; }), is_closed());
}

TEST(HipStrict, Rule27_SystemCallAnswersEfault) {
  const DeviceBuffer buffer(4096);
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zero, 0);
  errno = 0;
  EXPECT_EQ(read(zero, buffer.data(), 4096), is_closed() ? -1 : 4096);
  EXPECT_EQ(errno, is_closed() ? EFAULT : 0);
  close(zero);
}

TEST(HipStrict, Rule27_StreamOrderedMemoryTrapsToo) {
  const TestStream stream;
  char* data = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocAsync(&data, 4096, stream.get()));
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  volatile char* const watched = data;
  EXPECT_EQ(traps([&] { watched[0] = 1; }), is_closed());
  EXPECT_HIP(hipSuccess, hipFreeAsync(data, stream.get()));
}

TEST(HipStrict, Rule27_PinnedAndManagedMemoryStayAccessible) {
  const PinnedBuffer pinned(64);
  std::memset(pinned.data(), 1, 64);
  void* managed = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocManaged(&managed, 64));
  std::memset(managed, 1, 64);
  EXPECT_HIP(hipSuccess, hipFree(managed));
}

}  // namespace
