// SPDX-License-Identifier: MIT
//
// The CUDA device against a driver library: by default the fake one, which answers from RAM, so
// that this runs without a GPU. HIP_PORTABLE_CUDA_LIBRARY=libcuda.so.1 runs it on a real driver.

#include "cuda_device_fixture.h"

namespace hip_portable::cuda::test {
namespace {

// The driver is opened once per process, so each of these ends its process. Suites of this name run
// before all others.
class CudaDriverDeathTest : public ::testing::Test {
 protected:
  [[noreturn]] static void open_and_exit() {
    hipError_t error = hipErrorUnknown;
    const std::vector<std::unique_ptr<Device>> devices = make_cuda_devices(&error);
    if (devices.empty() == (error == hipSuccess)) std::_Exit(14);
    std::_Exit(error == hipErrorNoDevice                 ? 10
               : error == hipErrorInsufficientDriver     ? 11
               : error == hipSuccess                     ? 12
               : error == hipErrorSharedObjectInitFailed ? 15
                                                         : 13);
  }
};

TEST_F(CudaDriverDeathTest, MissingLibraryIsNamedSo) {
  EXPECT_EXIT(
      {
        setenv("HIP_PORTABLE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
        open_and_exit();
      },
      ::testing::ExitedWithCode(15), "");
}

TEST_F(CudaDriverDeathTest, LibraryWithoutTheFunctionsIsAnInsufficientDriver) {
  EXPECT_EXIT(
      {
        setenv("HIP_PORTABLE_CUDA_LIBRARY", "libc.so.6", 1);
        open_and_exit();
      },
      ::testing::ExitedWithCode(11), "");
}

TEST_F(CudaDriverDeathTest, ErrorOfTheDriverIsPassedOn) {
  EXPECT_EXIT(
      {
        setenv("HIP_PORTABLE_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1);
        setenv("FAKE_CUDA_INIT_RESULT", "803", 1);
        open_and_exit();
      },
      ::testing::ExitedWithCode(11), "");
}

TEST_F(CudaDriverDeathTest, DriverWithoutDevicesIsNoDevice) {
  EXPECT_EXIT(
      {
        setenv("HIP_PORTABLE_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1);
        setenv("FAKE_CUDA_DEVICES", "0", 1);
        open_and_exit();
      },
      ::testing::ExitedWithCode(10), "");
}

TEST_F(CudaDeviceTest, IsNotEmulated) { EXPECT_FALSE(device().is_emulated()); }

TEST_F(CudaDeviceTest, PropertiesNameTheDevice) {
  hipDeviceProp_t properties;
  ASSERT_EQ(device().properties(&properties), hipSuccess);
  EXPECT_NE(std::strlen(properties.name), 0U);
  EXPECT_GT(properties.totalGlobalMem, kSize);
  EXPECT_EQ(std::strncmp(properties.gcnArchName, "sm_", 3), 0);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_GT(properties.maxThreadsDim[2], 0);
}

TEST_F(CudaDeviceTest, AttributesAgreeWithProperties) {
  hipDeviceProp_t properties;
  ASSERT_EQ(device().properties(&properties), hipSuccess);
  int value = -1;
  EXPECT_EQ(device().attribute(hipDeviceAttributePciBusId, &value), hipSuccess);
  EXPECT_EQ(value, properties.pciBusID);
  EXPECT_EQ(device().attribute(hipDeviceAttributeMultiprocessorCount, &value), hipSuccess);
  EXPECT_EQ(value, properties.multiProcessorCount);
  EXPECT_EQ(device().attribute(hipDeviceAttributeCanUseStreamWaitValue, &value), hipSuccess);
  EXPECT_EQ(value, 1);
}

TEST_F(CudaDeviceTest, UnknownAttributeIsInvalid) {
  int value = 0;
  const auto unknown = static_cast<hipDeviceAttribute_t>(9000);
  EXPECT_EQ(device().attribute(unknown, &value), hipErrorInvalidValue);
}

TEST_F(CudaDeviceTest, PeerThatDoesNotExistIsAnInvalidDevice) {
  bool can = true;
  EXPECT_EQ(device().can_access_peer(1000, &can), hipErrorInvalidDevice);
  EXPECT_FALSE(can);
}

TEST_F(CudaDeviceTest, PrioritiesGrowDownwards) {
  int least = -1;
  int greatest = 1;
  ASSERT_EQ(device().priority_range(&least, &greatest), hipSuccess);
  EXPECT_LE(greatest, least);
}

TEST_F(CudaDeviceTest, SynchronousCopyRoundTrip) {
  const std::vector<unsigned char> sent = pattern(kSize);
  std::vector<unsigned char> received(kSize);
  void* memory = allocate(kSize);
  EXPECT_EQ(device().copy(memory, sent.data(), kSize), hipSuccess);
  EXPECT_EQ(device().copy(received.data(), memory, kSize), hipSuccess);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, CopyBetweenTwoAllocationsHasArrived) {
  const std::vector<unsigned char> sent = pattern(kSize);
  std::vector<unsigned char> received(kSize);
  void* first = allocate(kSize);
  void* second = allocate(kSize);
  EXPECT_EQ(device().copy(first, sent.data(), kSize), hipSuccess);
  EXPECT_EQ(device().copy(second, first, kSize), hipSuccess);
  EXPECT_EQ(device().copy(received.data(), second, kSize), hipSuccess);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(device().release(first), hipSuccess);
  EXPECT_EQ(device().release(second), hipSuccess);
}

TEST_F(CudaDeviceTest, StreamCopiesAndFillsInOrder) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  const std::vector<unsigned char> sent = pattern(kSize);
  std::vector<unsigned char> received(kSize);
  void* memory = allocate(kSize);
  EXPECT_EQ(stream->copy(memory, sent.data(), kSize, true), hipSuccess);
  EXPECT_EQ(stream->fill(memory, 0xee, 16), hipSuccess);
  EXPECT_EQ(stream->copy(received.data(), memory, kSize, true), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
  EXPECT_EQ(stream->query(), hipSuccess);
  EXPECT_EQ(received[15], 0xee);
  EXPECT_EQ(received[16], sent[16]);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, MemoryInfoFollowsAllocations) {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  ASSERT_EQ(device().memory_info(&free_before, &total), hipSuccess);
  // More than the driver takes from the system at a time.
  constexpr std::size_t kLarge = 16 << 20;
  void* memory = allocate(kLarge);
  ASSERT_EQ(device().memory_info(&free_after, &total), hipSuccess);
  EXPECT_LE(free_after + kLarge, free_before);
  EXPECT_LE(free_before, total);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, MoreThanThereIsIsOutOfMemory) {
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(device().memory_info(&free, &total), hipSuccess);
  void* memory = nullptr;
  EXPECT_EQ(device().allocate(total + 1, 0, &memory), hipErrorOutOfMemory);
  EXPECT_EQ(memory, nullptr);
}

TEST_F(CudaDeviceTest, ReleaseRefusesWhatIsNoAllocation) {
  int local = 0;
  auto* memory = static_cast<char*>(allocate(kSize));
  EXPECT_EQ(device().release(&local), hipErrorInvalidValue);
  EXPECT_EQ(device().release(memory + 4096), hipErrorInvalidValue);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, DevicePointerIsDescribedFromItsMiddle) {
  auto* memory = static_cast<char*>(allocate(kSize));
  PointerInfo info;
  ASSERT_EQ(device().describe(memory + 100, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeDevice);
  EXPECT_EQ(info.device, 0);
  EXPECT_EQ(info.base, memory);
  EXPECT_EQ(info.size, kSize);
  EXPECT_EQ(info.device_pointer, memory + 100);
  EXPECT_EQ(info.host_pointer, nullptr);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, PlainHostMemoryIsUnregistered) {
  int local = 0;
  PointerInfo info;
  ASSERT_EQ(device().describe(&local, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeUnregistered);
  EXPECT_EQ(info.base, nullptr);
}

TEST_F(CudaDeviceTest, ManagedMemoryIsReachedByBoth) {
  void* memory = nullptr;
  ASSERT_EQ(device().allocate_managed(kSize, hipMemAttachGlobal, &memory), hipSuccess);
  std::memset(memory, 0x5a, kSize);
  PointerInfo info;
  ASSERT_EQ(device().describe(memory, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeManaged);
  EXPECT_EQ(info.host_pointer, memory);
  EXPECT_EQ(info.size, kSize);
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, PinnedMemoryKeepsItsFlags) {
  void* memory = nullptr;
  ASSERT_EQ(device().allocate_host(kSize, hipHostMallocNonCoherent, &memory), hipSuccess);
  std::memset(memory, 1, kSize);
  PointerInfo info;
  ASSERT_EQ(device().describe(static_cast<char*>(memory) + 5, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeHost);
  EXPECT_EQ(info.base, memory);
  EXPECT_EQ(info.size, kSize);
  EXPECT_EQ(info.flags, hipHostMallocNonCoherent);
  EXPECT_EQ(device().release(memory), hipErrorInvalidValue);
  EXPECT_EQ(device().release_host(memory), hipSuccess);
  EXPECT_EQ(device().release_host(memory), hipErrorInvalidValue);
}

TEST_F(CudaDeviceTest, RegisteredMemoryIsPinnedUntilItIsUnregistered) {
  void* memory = std::aligned_alloc(4096, kSize);
  ASSERT_NE(memory, nullptr);
  ASSERT_EQ(device().register_host(memory, kSize, hipHostRegisterDefault), hipSuccess);
  EXPECT_EQ(device().register_host(memory, kSize, hipHostRegisterDefault),
            hipErrorHostMemoryAlreadyRegistered);
  PointerInfo info;
  ASSERT_EQ(device().describe(static_cast<char*>(memory) + 4096, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeHost);
  EXPECT_EQ(info.base, memory);
  EXPECT_EQ(device().unregister_host(static_cast<char*>(memory) + 4096),
            hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(device().unregister_host(memory), hipSuccess);
  ASSERT_EQ(device().describe(memory, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeUnregistered);
  std::free(memory);
}

TEST_F(CudaDeviceTest, SignalMemoryIsDeviceMemoryThatTheHostWrites) {
  void* memory = nullptr;
  ASSERT_EQ(device().allocate(8, hipMallocSignalMemory, &memory), hipSuccess);
  *static_cast<std::uint64_t*>(memory) = 1;
  PointerInfo info;
  ASSERT_EQ(device().describe(memory, &info), hipSuccess);
  EXPECT_EQ(info.type, hipMemoryTypeDevice);
  EXPECT_EQ(info.flags, static_cast<unsigned>(hipMallocSignalMemory));
  EXPECT_EQ(device().release(memory), hipSuccess);
}

TEST_F(CudaDeviceTest, StreamOrderedMemoryRoundTrip) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  const std::vector<unsigned char> sent = pattern(4096);
  std::vector<unsigned char> received(4096);
  void* memory = nullptr;
  ASSERT_EQ(device().allocate_async(4096, *stream, &memory), hipSuccess);
  EXPECT_EQ(stream->copy(memory, sent.data(), 4096, true), hipSuccess);
  EXPECT_EQ(stream->copy(received.data(), memory, 4096, true), hipSuccess);
  EXPECT_EQ(device().release_async(memory, *stream), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace hip_portable::cuda::test
