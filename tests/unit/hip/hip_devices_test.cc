// SPDX-License-Identifier: MIT
//
// Three small devices: HIP_PORTABLE_DEVICES=3, HIP_PORTABLE_MEMORY=64M, or the fake driver's.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

#include "hip_test.h"

namespace {

using namespace hip_test;

class HipDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() < 3) GTEST_SKIP() << "needs three devices";
  }
  void TearDown() override { (void)hipSetDevice(0); }
};

class HipSmallDevices : public HipDevices {
 protected:
  void SetUp() override {
    if (is_on_gpu()) GTEST_SKIP() << "needs devices of 64 MiB that nobody else uses";
  }
};

TEST_F(HipSmallDevices, AreAsManyAsAskedFor) {
  int count = 0;
  EXPECT_HIP(hipSuccess, hipGetDeviceCount(&count));
  EXPECT_EQ(count, 3);
}

TEST_F(HipSmallDevices, HaveTheMemoryAskedFor) {
  for (int device = 0; device < 3; ++device) {
    ASSERT_HIP(hipSuccess, hipSetDevice(device));
    size_t free = 0;
    size_t total = 0;
    EXPECT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
    EXPECT_EQ(total, 64 * kMiB);
    EXPECT_EQ(free, 64 * kMiB);
  }
}

TEST_F(HipSmallDevices, OneThatIsFullLeavesTheOthers) {
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&first, 64 * kMiB));
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&second, 256));
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  EXPECT_HIP(hipSuccess, hipMalloc(&second, 64 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(second));
  EXPECT_HIP(hipSuccess, hipFree(first));
}

TEST_F(HipSmallDevices, HolesDoNotMakeADeviceFull) {
  std::vector<void*> blocks(16);
  for (void*& block : blocks) ASSERT_HIP(hipSuccess, hipMalloc(&block, 4 * kMiB));
  for (size_t i = 0; i < blocks.size(); i += 2) ASSERT_HIP(hipSuccess, hipFree(blocks[i]));
  void* big = nullptr;
  EXPECT_HIP(hipSuccess, hipMalloc(&big, 32 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(big));
  for (size_t i = 1; i < blocks.size(); i += 2) EXPECT_HIP(hipSuccess, hipFree(blocks[i]));
}

TEST_F(HipSmallDevices, ManagedMemoryCountsToo) {
  void* managed = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMallocManaged(&managed, 65 * kMiB));
  ASSERT_HIP(hipSuccess, hipMallocManaged(&managed, 60 * kMiB));
  void* device = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&device, 8 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(managed));
}

TEST_F(HipSmallDevices, FreeInStreamOrderMakesRoomForTheNext) {
  const TestStream stream;
  void* first = nullptr;
  void* second = nullptr;
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  ASSERT_HIP(hipSuccess, hipMallocAsync(&first, 48 * kMiB, stream.get()));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), nap, nullptr));
  ASSERT_HIP(hipSuccess, hipFreeAsync(first, stream.get()));
  EXPECT_HIP(hipSuccess, hipMallocAsync(&second, 48 * kMiB, stream.get()));
  EXPECT_HIP(hipSuccess, hipFreeAsync(second, stream.get()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
}

TEST_F(HipDevices, PointersKnowTheirDevice) {
  ASSERT_HIP(hipSuccess, hipSetDevice(2));
  const DeviceBuffer buffer(64);
  ASSERT_HIP(hipSuccess, hipSetDevice(0));
  hipPointerAttribute_t attributes;
  EXPECT_HIP(hipSuccess, hipPointerGetAttributes(&attributes, buffer.data()));
  EXPECT_EQ(attributes.device, 2);
}

TEST_F(HipDevices, CurrentDeviceIsTheThreadsOwn) {
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  int device = -1;
  std::thread([&] { (void)hipGetDevice(&device); }).join();
  EXPECT_EQ(device, 0);
}

TEST_F(HipDevices, CopyBetweenThemWorks) {
  const std::vector<char> bytes = pattern(10000);
  const DeviceBuffer first(10000);
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  const DeviceBuffer second(10000);
  EXPECT_HIP(hipSuccess, hipMemcpy(first.data(), bytes.data(), 10000, hipMemcpyDefault));
  EXPECT_HIP(hipSuccess, hipMemcpyPeer(second.data(), 1, first.data(), 0, 10000));
  EXPECT_EQ(contents(second.data(), 10000), bytes);
  EXPECT_HIP(hipErrorInvalidDevice, hipMemcpyPeer(second.data(), 9, first.data(), 0, 1));
}

TEST_F(HipDevices, ReachEachOtherAndNotThemselves) {
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      int can = -1;
      EXPECT_HIP(hipSuccess, hipDeviceCanAccessPeer(&can, from, to));
      EXPECT_EQ(can, from == to ? 0 : 1);
    }
  }
}

TEST_F(HipDevices, PeerCopyStaysInsideItsAllocations) {
  const DeviceBuffer first(1000);
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  const DeviceBuffer second(500);
  std::vector<char> host(1000);
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpyPeer(second.data(), 1, first.data(), 0, 501));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpyPeer(second.data() + 1, 1, first.data(), 0, 500));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpyPeer(second.data(), 1, first.data() + 501, 0, 500));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpyPeer(host.data(), 1, first.data(), 0, 500));
  EXPECT_HIP(hipSuccess, hipMemcpyPeer(second.data(), 1, first.data(), 0, 0));
}

TEST_F(HipDevices, CopyBetweenThemStandsInTheOrderOfItsStream) {
  const PinnedBuffer source(64 * kKiB);
  std::memset(source.data(), 7, 64 * kKiB);
  const DeviceBuffer first(64 * kKiB);
  ASSERT_HIP(hipSuccess, hipSetDevice(2));
  const DeviceBuffer second(64 * kKiB);
  const TestStream stream(hipStreamNonBlocking);
  ASSERT_HIP(hipSuccess, hipMemset(first.data(), 0, 64 * kKiB));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipMemcpyAsync(first.data(), source.data(), 64 * kKiB, hipMemcpyDefault,
                                        stream.get()));
  ASSERT_HIP(hipSuccess, hipMemcpyAsync(second.data(), first.data(), 64 * kKiB,
                                        hipMemcpyDeviceToDevice, stream.get()));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream.get()));
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(contents(second.data(), 64 * kKiB), std::vector<char>(64 * kKiB, 7));
}

TEST_F(HipDevices, WaitForAnEventOfAnotherDeviceWorks) {
  hipEvent_t event = nullptr;
  const TestStream first(hipStreamNonBlocking);
  ASSERT_HIP(hipSuccess, hipEventCreate(&event));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(first.get()));
  ASSERT_HIP(hipSuccess, hipEventRecord(event, first.get()));
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  const TestStream second(hipStreamNonBlocking);
  ASSERT_HIP(hipSuccess, hipStreamWaitEvent(second.get(), event, 0));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(second.get()));
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(second.get()));
  EXPECT_HIP(hipSuccess, hipEventDestroy(event));
}

TEST_F(HipDevices, ContextMakesItsDeviceCurrent) {
  hipCtx_t context = nullptr;
  ASSERT_HIP(hipSuccess, hipCtxCreate(&context, hipDeviceScheduleSpin | hipDeviceMapHost, 2));
  int device = -1;
  EXPECT_HIP(hipSuccess, hipGetDevice(&device));
  EXPECT_EQ(device, 2);
  EXPECT_HIP(hipSuccess, hipCtxDestroy(context));
}

TEST_F(HipDevices, ResetLeavesTheOthers) {
  const DeviceBuffer kept(64);
  const TestStream kept_stream;
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  void* memory = nullptr;
  void* pinned = nullptr;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocManaged(&memory, 64));
  ASSERT_HIP(hipSuccess, hipHostMalloc(&pinned, 64));
  ASSERT_HIP(hipSuccess, hipStreamCreate(&stream));
  ASSERT_HIP(hipSuccess, hipEventCreate(&event));
  EXPECT_HIP(hipSuccess, hipDeviceReset());
  EXPECT_HIP(hipErrorInvalidValue, hipFree(memory));
  EXPECT_HIP(hipErrorInvalidValue, hipHostFree(pinned));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamDestroy(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventDestroy(event));
  ASSERT_HIP(hipSuccess, hipSetDevice(0));
  EXPECT_HIP(hipSuccess, hipMemset(kept.data(), 1, 64));
  EXPECT_HIP(hipSuccess, hipStreamQuery(kept_stream.get()));
}

TEST_F(HipSmallDevices, MemoryFreedInStreamOrderStaysUntilTheStreamGotThere) {
  const TestStream stream(hipStreamNonBlocking);
  const PinnedBuffer target(kMiB);
  void* memory = nullptr;
  void* other = nullptr;
  ASSERT_HIP(hipSuccess, hipMallocAsync(&memory, 60 * kMiB, stream.get()));
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));
  ASSERT_HIP(hipSuccess, hipMemsetAsync(memory, 7, kMiB, stream.get()));
  ASSERT_HIP(hipSuccess,
             hipMemcpyAsync(target.data(), memory, kMiB, hipMemcpyDefault, stream.get()));
  ASSERT_HIP(hipSuccess, hipFreeAsync(memory, stream.get()));
  if (!is_on_nvidia()) {  // a driver knows it until then
    EXPECT_HIP(hipErrorInvalidValue, hipMemset(memory, 1, 1)) << "unknown at once";
    EXPECT_HIP(hipErrorInvalidValue, hipFreeAsync(memory, stream.get()));
  }
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&other, 60 * kMiB));
  gate.open();
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(std::vector<char>(target.data(), target.data() + kMiB), std::vector<char>(kMiB, 7));
  EXPECT_HIP(hipSuccess, hipMalloc(&other, 60 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(other));
}

TEST_F(HipDevices, UuidsAndBusIdsDiffer) {
  std::set<std::string> uuids;
  std::set<std::string> bus_ids;
  for (int device = 0; device < 3; ++device) {
    hipUUID uuid;
    char bus_id[32];
    ASSERT_HIP(hipSuccess, hipDeviceGetUuid(&uuid, device));
    ASSERT_HIP(hipSuccess, hipDeviceGetPCIBusId(bus_id, sizeof(bus_id), device));
    uuids.insert(std::string(uuid.bytes, sizeof(uuid.bytes)));
    bus_ids.insert(bus_id);
  }
  EXPECT_EQ(uuids.size(), 3U);
  EXPECT_EQ(bus_ids.size(), 3U);
}

TEST_F(HipDevices, NullStreamIsThatOfTheCurrentDevice) {
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(nullptr));
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  EXPECT_HIP(hipSuccess, hipStreamQuery(nullptr));
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  ASSERT_HIP(hipSuccess, hipSetDevice(0));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(nullptr));
}

TEST_F(HipDevices, EventOfAnotherDeviceIsRefused) {
  hipEvent_t event = nullptr;
  ASSERT_HIP(hipSuccess, hipEventCreate(&event));
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  const TestStream stream;
  EXPECT_HIP(hipErrorInvalidHandle, hipEventRecord(event, stream.get()));
  EXPECT_HIP(hipSuccess, hipEventDestroy(event));
}

TEST_F(HipDevices, FileTransferNeedsMemoryOfTheCurrentDevice) {
  if (is_on_nvidia()) GTEST_SKIP() << "NVIDIA's driver moves no files";
  const DeviceBuffer buffer(4096);
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  void* function = nullptr;
  ASSERT_HIP(hipSuccess, hipGetProcAddress("hipAmdFileRead", &function, HIP_VERSION, 0, nullptr));
  hipAmdFileHandle_t handle{};
  handle.fd = -1;  // never looked at: the memory is refused first
  uint64_t copied = 7;
  int32_t status = 0;
  EXPECT_HIP(hipSuccess, reinterpret_cast<hipAmdFileRead_t>(function)(handle, buffer.data(), 4096,
                                                                     0, &copied, &status));
  EXPECT_EQ(status, EINVAL);
  EXPECT_EQ(copied, 0U);
}

}  // namespace
