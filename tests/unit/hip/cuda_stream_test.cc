// SPDX-License-Identifier: MIT
//
// Streams, events, files and the end of a device of NVIDIA's driver.

#include "cuda_device_fixture.h"

namespace hip_portable::cuda::test {
namespace {

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
  EXPECT_EQ(stream->host_function([&calls] { ++calls; }), hipSuccess);
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
}  // namespace hip_portable::cuda::test
