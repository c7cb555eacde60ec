// SPDX-License-Identifier: MIT
//
// The CUDA device against a driver library: by default the fake one, which answers from RAM, so
// that this runs without a GPU. HIP_PORTABLE_CUDA_LIBRARY=libcuda.so.1 runs it on a real driver.

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/cuda_device.h"

namespace {

using hip_portable::Device;
using hip_portable::DeviceEvent;
using hip_portable::DeviceStream;
using hip_portable::FileTransfer;
using hip_portable::PointerInfo;
using hip_portable::ValueWait;
using hip_portable::ValueWidth;
using hip_portable::cuda::make_cuda_devices;

constexpr std::size_t kSize = 1 << 20;

const char* library() {
  const char* named = std::getenv("HIP_PORTABLE_CUDA_LIBRARY");
  return named != nullptr ? named : FAKE_CUDA_LIBRARY;
}

std::vector<unsigned char> pattern(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<unsigned char>(at * 31 + 7);
  return bytes;
}

// The driver is opened once per process, so each of these ends its process. Suites of this name run
// before all others.
class CudaDriverDeathTest : public ::testing::Test {
 protected:
  [[noreturn]] static void open_and_exit() {
    hipError_t error = hipErrorUnknown;
    const std::vector<std::unique_ptr<Device>> devices = make_cuda_devices(&error);
    if (devices.empty() == (error == hipSuccess)) std::_Exit(14);
    std::_Exit(error == hipErrorNoDevice             ? 10
               : error == hipErrorInsufficientDriver ? 11
               : error == hipSuccess                 ? 12
                                                     : 13);
  }
};

TEST_F(CudaDriverDeathTest, MissingLibraryIsNoDevice) {
  EXPECT_EXIT(
      {
        setenv("HIP_PORTABLE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
        open_and_exit();
      },
      ::testing::ExitedWithCode(10), "");
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

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HIP_PORTABLE_CUDA_LIBRARY", library(), 1);
    hipError_t error = hipErrorUnknown;
    devices_ = make_cuda_devices(&error);
    ASSERT_EQ(error, hipSuccess);
    ASSERT_FALSE(devices_.empty());
  }

  void TearDown() override { EXPECT_EQ(contexts_left_current(), 0); }

  Device& device() { return *devices_.front(); }

  void* allocate(std::size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(device().allocate(size, hipDeviceMallocDefault, &pointer), hipSuccess);
    return pointer;
  }

  std::unique_ptr<DeviceStream> make_stream() {
    std::unique_ptr<DeviceStream> stream;
    EXPECT_EQ(device().create_stream(hipStreamNonBlocking, 0, &stream), hipSuccess);
    return stream;
  }

  std::unique_ptr<DeviceEvent> make_event(unsigned flags = hipEventDefault) {
    std::unique_ptr<DeviceEvent> event;
    EXPECT_EQ(device().create_event(flags, &event), hipSuccess);
    return event;
  }

 private:
  // Only the fake driver tells.
  static int contexts_left_current() {
    void* handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return 0;
    const auto depth = reinterpret_cast<int (*)()>(dlsym(handle, "fakeCudaContextDepth"));
    const int left = depth != nullptr ? depth() : 0;
    dlclose(handle);
    return left;
  }

  std::vector<std::unique_ptr<Device>> devices_;
};

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

TEST_F(CudaDeviceTest, EventMeasuresTime) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  const std::unique_ptr<DeviceEvent> start = make_event();
  const std::unique_ptr<DeviceEvent> stop = make_event();
  EXPECT_EQ(start->query(), hipSuccess);
  float milliseconds = -1;
  EXPECT_EQ(stop->elapsed_since(*start, &milliseconds), hipErrorInvalidHandle);
  EXPECT_EQ(start->record(*stream), hipSuccess);
  EXPECT_EQ(stop->record(*stream), hipSuccess);
  EXPECT_EQ(stop->synchronize(), hipSuccess);
  EXPECT_EQ(stop->elapsed_since(*start, &milliseconds), hipSuccess);
  EXPECT_GE(milliseconds, 0.0F);
}

TEST_F(CudaDeviceTest, EventWithoutTimingHasNoTime) {
  const std::unique_ptr<DeviceEvent> start = make_event(hipEventDisableTiming);
  const std::unique_ptr<DeviceEvent> stop = make_event(hipEventReleaseToSystem);
  EXPECT_EQ(start->record(device().null_stream()), hipSuccess);
  EXPECT_EQ(stop->record(device().null_stream()), hipSuccess);
  EXPECT_EQ(stop->synchronize(), hipSuccess);
  float milliseconds = 0;
  EXPECT_EQ(stop->elapsed_since(*start, &milliseconds), hipErrorInvalidHandle);
}

TEST_F(CudaDeviceTest, StreamWaitsForAnEventOfAnother) {
  const std::unique_ptr<DeviceStream> first = make_stream();
  const std::unique_ptr<DeviceStream> second = make_stream();
  const std::unique_ptr<DeviceEvent> event = make_event(hipEventDisableTiming);
  EXPECT_EQ(event->record(*first), hipSuccess);
  EXPECT_EQ(second->wait_event(*event), hipSuccess);
  EXPECT_EQ(second->synchronize(), hipSuccess);
}

TEST_F(CudaDeviceTest, WrittenValueReleasesAWait) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  void* flag = nullptr;
  ASSERT_EQ(device().allocate(8, hipMallocSignalMemory, &flag), hipSuccess);
  std::memset(flag, 0, 8);
  EXPECT_EQ(stream->write_value(flag, 3, ValueWidth::k32), hipSuccess);
  ValueWait wait;
  wait.address = flag;
  wait.value = 3;
  EXPECT_EQ(stream->wait_value(wait), hipSuccess);
  wait.width = ValueWidth::k64;
  wait.condition = hipStreamWaitValueEq;
  EXPECT_EQ(stream->wait_value(wait), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
  EXPECT_EQ(*static_cast<std::uint32_t*>(flag), 3U);
  EXPECT_EQ(device().release(flag), hipSuccess);
}

TEST_F(CudaDeviceTest, WaitWithAMaskIsNotSupported) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  std::uint32_t flag = 1;
  ValueWait wait;
  wait.address = &flag;
  wait.mask = 1;
  EXPECT_EQ(stream->wait_value(wait), hipErrorNotSupported);
}

TEST_F(CudaDeviceTest, HostFunctionRunsInTheStream) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  int calls = 0;
  const hipHostFn_t count = [](void* data) { ++*static_cast<int*>(data); };
  EXPECT_EQ(stream->host_function(count, &calls), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
  EXPECT_EQ(calls, 1);
}

TEST_F(CudaDeviceTest, ThreadsShareADevice) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this] {
      const std::vector<unsigned char> sent = pattern(65536);
      std::vector<unsigned char> received(65536);
      void* memory = allocate(65536);
      EXPECT_EQ(device().copy(memory, sent.data(), sent.size()), hipSuccess);
      EXPECT_EQ(device().copy(received.data(), memory, sent.size()), hipSuccess);
      EXPECT_EQ(received, sent);
      EXPECT_EQ(device().release(memory), hipSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaDeviceTest, FileTransferIsRefusedLikeAnUnpreparedGpu) {
  std::uint64_t copied = 1;
  std::int32_t status = 0;
  EXPECT_EQ(device().transfer_file(FileTransfer{}, &copied, &status), hipErrorNotSupported);
  EXPECT_EQ(status, ENODEV);
  EXPECT_EQ(copied, 0U);
}

TEST_F(CudaDeviceTest, ResetEndsStreamsEventsAndMemory) {
  const std::unique_ptr<DeviceStream> stream = make_stream();
  const std::unique_ptr<DeviceEvent> event = make_event();
  void* pinned = nullptr;
  ASSERT_EQ(device().allocate_host(4096, 0, &pinned), hipSuccess);
  ASSERT_NE(allocate(kSize), nullptr);
  ASSERT_EQ(device().reset(), hipSuccess);
  EXPECT_EQ(stream->query(), hipErrorContextIsDestroyed);
  EXPECT_EQ(event->synchronize(), hipErrorContextIsDestroyed);
  EXPECT_EQ(device().release_host(pinned), hipErrorInvalidValue);
  void* memory = allocate(kSize);
  EXPECT_EQ(device().release(memory), hipSuccess);
  EXPECT_EQ(device().null_stream().synchronize(), hipSuccess);
}

}  // namespace
