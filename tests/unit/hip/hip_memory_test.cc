// SPDX-License-Identifier: MIT
//
// Device, managed and pinned memory: what is given, what is refused, what is given back.

#include <sys/mman.h>

#include <fstream>
#include <string>

#include "hip_test.h"

namespace {

using namespace hip_test;

// Kibibytes of shared memory that this process has in its page tables.
size_t resident_shared_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    size_t kib = 0;
    if (word == "RssShmem:" && status >> kib) return kib;
  }
  return 0;
}

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
  EXPECT_LE(free, total);
  return free;
}

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

TEST(HipMemory, BlocksOfPagesAreAlignedToPages) {
  const DeviceBuffer buffer(5000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0U);
}

TEST(HipMemory, BigBlocksAreAlignedTo2MiB) {
  const DeviceBuffer buffer(2 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (2 * kMiB), 0U);
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

TEST(HipMemory, FreeOfPinnedMemoryIsRefused) {
  const PinnedBuffer buffer(4096);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(buffer.data()));
}

TEST(HipMemory, Rule26_MoreThanTheDeviceHasIsRefused) {
  void* pointer = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&pointer, free_bytes() + kMiB));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&pointer, SIZE_MAX));
}

TEST(HipMemory, Rule26_AllThatIsSaidToBeFreeCanBeHad) {
  void* pointer = nullptr;
  EXPECT_HIP(hipSuccess, hipMalloc(&pointer, free_bytes()));
  EXPECT_LT(free_bytes(), 4096U);
  EXPECT_HIP(hipSuccess, hipFree(pointer));
}

TEST(HipMemory, Rule26_InfoCountsWhatIsAllocated) {
  const size_t before = free_bytes();
  {
    const DeviceBuffer buffer(10 * kMiB);
    EXPECT_EQ(free_bytes(), before - 10 * kMiB);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST(HipMemory, Rule26_MemoryIsTakenWhenTouched) {
  const size_t before = resident_shared_kib();
  const DeviceBuffer buffer(256 * kMiB);
  EXPECT_LT(resident_shared_kib(), before + 1024);
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data() + 100 * kMiB, 1, 8 * kMiB));
  EXPECT_LE(resident_shared_kib(), before + 12 * 1024);
}

TEST(HipMemory, Rule26_FirstTouchTakesTwoMebibytesAtOnce) {
  const DeviceBuffer buffer(256 * kMiB);
  const size_t before = resident_shared_kib();
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data() + 201 * kMiB, 1, 1));
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  EXPECT_EQ(resident_shared_kib(), before + 2 * 1024);
}

TEST(HipMemory, Rule26_FreedMemoryGoesBackBeyondThePool) {
  const size_t before = resident_shared_kib();
  {
    const DeviceBuffer buffer(192 * kMiB);
    ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 1, 192 * kMiB));
    ASSERT_GE(resident_shared_kib(), before + 100 * 1024);
  }
  EXPECT_LE(resident_shared_kib(), before + 64 * 1024);
}

TEST(HipMemory, Rule26_ManySmallFreedBlocksGoBackBeyondThePool) {
  const size_t before = resident_shared_kib();
  std::vector<void*> blocks(12 * 1024);
  for (void*& block : blocks) {
    ASSERT_HIP(hipSuccess, hipMalloc(&block, 12 * kKiB));
    ASSERT_HIP(hipSuccess, hipMemset(block, 1, 12 * kKiB));
  }
  for (void* block : blocks) ASSERT_HIP(hipSuccess, hipFree(block));
  EXPECT_LE(resident_shared_kib(), before + 65 * 1024);
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
  void* pointer = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocAsync(&pointer, kMiB, stream.get()));
  const size_t before = free_bytes();
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  EXPECT_HIP(hipSuccess, hipFreeAsync(pointer, stream.get()));
  EXPECT_EQ(free_bytes(), before);
  EXPECT_HIP(hipErrorInvalidValue, hipFree(pointer));
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
  std::vector<char> memory(3 * 4096);
  ASSERT_HIP(hipSuccess, hipHostRegister(memory.data() + 4096, 4096, 0));
  EXPECT_HIP(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(memory.data(), 3 * 4096, 0));
  EXPECT_HIP(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(memory.data() + 8191, 8, 0));
  EXPECT_HIP(hipSuccess, hipHostRegister(memory.data() + 8192, 8, 0));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory.data() + 8192));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory.data() + 4096));
}

TEST(HipPinned, RegistrationOfMissingMemoryIsRefused) {
  void* pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
