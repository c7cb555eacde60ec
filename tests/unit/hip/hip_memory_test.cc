// SPDX-License-Identifier: MIT
//
// Device, managed and pinned memory: what is given, what is refused, what is given back.

#include <sys/mman.h>

#include "hip_test.h"

namespace {

using namespace hip_test;

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
  EXPECT_LE(free, total);
  return free;
}

// Tests of what is free: nobody else uses the device.
class HipMemoryCount : public testing::Test {
 protected:
  void SetUp() override {
    if (is_on_gpu()) GTEST_SKIP() << "others use the GPU as well; real_device_test counts there";
  }
};

TEST(HipMemory, ZeroBytesGiveNull) {
  void* pointer = &pointer;
  EXPECT_HIP(hipSuccess, hipMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
}

TEST(HipMemory, NullTargetIsRefused) {
  EXPECT_HIP(hipErrorInvalidValue, hipMalloc(static_cast<void**>(nullptr), 8));
}

TEST(HipMemory, SmallBlocksAreAlignedTo256Bytes) {
  const DeviceBuffer first(1);
  const DeviceBuffer second(1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % 256, 0U);
  EXPECT_GE(std::abs(second.data() - first.data()), 256);
}

TEST(HipMemory, FreeOfNullIsRight) { EXPECT_HIP(hipSuccess, hipFree(nullptr)); }

TEST(HipMemory, SecondFreeIsRefused) {
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&pointer, 4096));
  EXPECT_HIP(hipSuccess, hipFree(pointer));
  EXPECT_HIP(hipErrorInvalidValue, hipFree(pointer));
}

TEST(HipMemory, FreeOfInnerPointerIsRefused) {
  const DeviceBuffer buffer(8192);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(buffer.data() + 256));
}

TEST(HipMemory, FreeOfHostMemoryIsRefused) {
  int value = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipFree(&value));
}

// Else it would wait for the device, and here for ever.
TEST(HipMemory, FreeOfWhatIsNotTheDevicesDoesNotWait) {
  const TestStream stream;
  const PinnedBuffer pinned(64);
  int value = 0;
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  EXPECT_HIP(hipErrorInvalidValue, hipFree(&value));
  EXPECT_HIP(hipErrorInvalidValue, hipFree(pinned.data()));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
}

TEST(HipMemory, FreeOfPinnedMemoryIsRefused) {
  const PinnedBuffer buffer(4096);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(buffer.data()));
}

TEST_F(HipMemoryCount, Rule26_MoreThanTheDeviceHasIsRefused) {
  void* pointer = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&pointer, free_bytes() + kMiB));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&pointer, SIZE_MAX));
}

TEST_F(HipMemoryCount, Rule26_AllThatIsSaidToBeFreeCanBeHad) {
  void* pointer = nullptr;
  EXPECT_HIP(hipSuccess, hipMalloc(&pointer, free_bytes()));
  EXPECT_LT(free_bytes(), 4096U);
  EXPECT_HIP(hipSuccess, hipFree(pointer));
}

TEST_F(HipMemoryCount, Rule26_InfoCountsWhatIsAllocated) {
  const size_t before = free_bytes();
  {
    const DeviceBuffer buffer(10 * kMiB);
    EXPECT_EQ(free_bytes(), before - 10 * kMiB);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST(HipMemory, ReusedMemoryKeepsNoOldUse) {
  for (int round = 0; round < 20; ++round) {
    const DeviceBuffer buffer(100 * kKiB);
    const std::vector<char> bytes = pattern(100 * kKiB, static_cast<unsigned>(round));
    ASSERT_HIP(hipSuccess, hipMemcpy(buffer.data(), bytes.data(), bytes.size(),
                                     hipMemcpyHostToDevice));
    ASSERT_EQ(contents(buffer.data(), bytes.size()), bytes);
  }
}

TEST(HipMemory, ManagedMemoryIsSharedWithTheHost) {
  int* value = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocManaged(&value, sizeof(int)));
  *value = 5;
  int copy = 0;
  EXPECT_HIP(hipSuccess, hipMemcpy(&copy, value, sizeof(int), hipMemcpyDeviceToHost));
  EXPECT_EQ(copy, 5);
  EXPECT_HIP(hipSuccess, hipFree(value));
}

TEST(HipMemory, ManagedMemoryNeedsASizeAndAKnownFlag) {
  void* pointer = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipMallocManaged(&pointer, 0));
  EXPECT_HIP(hipErrorInvalidValue, hipMallocManaged(&pointer, 8, 0x80));
}

TEST(HipMemory, SignalMemoryIsEightBytesForTheHostToo) {
  void* pointer = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipExtMallocWithFlags(&pointer, 16, hipMallocSignalMemory));
  ASSERT_HIP(hipSuccess, hipExtMallocWithFlags(&pointer, 8, hipMallocSignalMemory));
  *static_cast<uint64_t*>(pointer) = 7;
  EXPECT_HIP(hipSuccess, hipFree(pointer));
}

TEST(HipMemory, FreeInStreamOrderWaitsForWorkBefore) {
  const TestStream stream;
  const PinnedBuffer target(kMiB);
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocAsync(&pointer, kMiB, stream.get()));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipMemsetAsync(pointer, 5, kMiB, stream.get()));
  ASSERT_HIP(hipSuccess,
             hipMemcpyAsync(target.data(), pointer, kMiB, hipMemcpyDefault, stream.get()));
  EXPECT_HIP(hipSuccess, hipFreeAsync(pointer, stream.get()));
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(std::vector<char>(target.data(), target.data() + kMiB), std::vector<char>(kMiB, 5));
}

TEST_F(HipMemoryCount, FreeInStreamOrderCountsWhenTheStreamGotThere) {
  const TestStream stream;
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocAsync(&pointer, kMiB, stream.get()));
  const size_t before = free_bytes();
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  EXPECT_HIP(hipSuccess, hipFreeAsync(pointer, stream.get()));
  EXPECT_EQ(free_bytes(), before);
  if (!is_on_nvidia()) {  // a driver knows the memory until then, and would wait
    EXPECT_HIP(hipErrorInvalidValue, hipFree(pointer));
  }
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(free_bytes(), before + kMiB);
}

TEST(HipMemory, FreeWaitsForWork) {
  const TestStream stream;
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&pointer, kMiB));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  std::atomic<bool> is_freed{false};
  std::thread other([&] {
    EXPECT_HIP(hipSuccess, hipFree(pointer));
    is_freed = true;
  });
  let_others_run();
  EXPECT_FALSE(is_freed.load());
  gate.open();
  other.join();
  EXPECT_TRUE(is_freed.load());
}

TEST(HipPinned, AllNamesAllocateAndFree) {
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipHostAlloc(&pointer, 100, hipHostAllocPortable));
  std::memset(pointer, 1, 100);
  EXPECT_HIP(hipSuccess, hipFreeHost(pointer));
  ASSERT_HIP(hipSuccess, hipExtHostAlloc(&pointer, 100, hipHostAllocDefault));
  EXPECT_HIP(hipSuccess, hipHostFree(pointer));
  ASSERT_HIP(hipSuccess, hipMallocHost(&pointer, 100));
  EXPECT_HIP(hipSuccess, hipHostFree(pointer));
}

TEST(HipPinned, FreeOfAnythingElseIsRefused) {
  int value = 0;
  const DeviceBuffer device(64);
  EXPECT_HIP(hipSuccess, hipHostFree(nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipHostFree(&value));
  EXPECT_HIP(hipErrorInvalidValue, hipHostFree(device.data()));
}

TEST(HipPinned, UnknownFlagsAreRefused) {
  void* pointer = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipHostMalloc(&pointer, 8, 0x100));
  EXPECT_HIP(hipErrorInvalidValue,
             hipHostMalloc(&pointer, 8, hipHostMallocCoherent | hipHostMallocNonCoherent));
}

TEST(HipPinned, RegisteredMemoryIsHostMemoryUntilUnregistered) {
  std::vector<char> memory(10000);
  ASSERT_HIP(hipSuccess, hipHostRegister(memory.data(), memory.size(), hipHostRegisterMapped));
  hipPointerAttribute_t attributes;
  EXPECT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, memory.data() + 9999));
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory.data()));
  EXPECT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, memory.data()));
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
}

TEST(HipPinned, OverlappingRegistrationIsRefused) {
  alignas(4096) static char memory[3 * 4096];  // a driver registers whole pages
  ASSERT_HIP(hipSuccess, hipHostRegister(memory + 4096, 4096, 0));
  EXPECT_HIP(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(memory, 3 * 4096, 0));
  EXPECT_HIP(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(memory + 8191, 8, 0));
  EXPECT_HIP(hipSuccess, hipHostRegister(memory + 8192, 8, 0));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory + 8192));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory + 4096));
}

TEST(HipPinned, RegistrationOfMissingMemoryIsRefused) {
  ASSERT_HIP(hipSuccess, hipDeviceSynchronize());  // it has started: nothing fills the hole
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(pages) + 4096, 4096), 0);
  EXPECT_HIP(hipErrorInvalidValue, hipHostRegister(pages, 8192, 0));
  munmap(pages, 4096);
}

TEST(HipPinned, UnregisterOfUnknownMemoryIsRefused) {
  std::vector<char> memory(4096);
  EXPECT_HIP(hipErrorHostMemoryNotRegistered, hipHostUnregister(memory.data()));
  ASSERT_HIP(hipSuccess, hipHostRegister(memory.data(), 4096, 0));
  EXPECT_HIP(hipErrorHostMemoryNotRegistered, hipHostUnregister(memory.data() + 8));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory.data()));
}

TEST(HipPinned, DevicePointerAndFlagsAreKnown) {
  void* pinned = nullptr;
  ASSERT_HIP(hipSuccess, hipHostMalloc(&pinned, 64, hipHostMallocPortable));
  void* device = nullptr;
  EXPECT_HIP(hipSuccess, hipHostGetDevicePointer(&device, pinned, 0));
  EXPECT_NE(device, nullptr);
  unsigned flags = 0;
  EXPECT_HIP(hipSuccess, hipHostGetFlags(&flags, pinned));
  EXPECT_EQ(flags, static_cast<unsigned>(hipHostMallocPortable));
  EXPECT_HIP(hipErrorInvalidValue, hipHostGetDevicePointer(&device, pinned, 1));
  EXPECT_HIP(hipErrorInvalidValue, hipHostGetFlags(&flags, &flags));
  EXPECT_HIP(hipSuccess, hipHostFree(pinned));
}

}  // namespace
