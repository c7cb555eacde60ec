// SPDX-License-Identifier: MIT
//
// Three small devices: HIP_PORTABLE_DEVICES=3, HIP_PORTABLE_MEMORY=64M.

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
  void TearDown() override { (void)hipSetDevice(0); }
};

TEST_F(HipDevices, AreAsManyAsAskedFor) {
  int count = 0;
  EXPECT_HIP(hipSuccess, hipGetDeviceCount(&count));
  EXPECT_EQ(count, 3);
}

TEST_F(HipDevices, HaveTheMemoryAskedFor) {
  for (int device = 0; device < 3; ++device) {
    ASSERT_HIP(hipSuccess, hipSetDevice(device));
    size_t free = 0;
    size_t total = 0;
    EXPECT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
    EXPECT_EQ(total, 64 * kMiB);
    EXPECT_EQ(free, 64 * kMiB);
  }
}

TEST_F(HipDevices, OneThatIsFullLeavesTheOthers) {
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&first, 64 * kMiB));
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&second, 256));
  ASSERT_HIP(hipSuccess, hipSetDevice(1));
  EXPECT_HIP(hipSuccess, hipMalloc(&second, 64 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(second));
  EXPECT_HIP(hipSuccess, hipFree(first));
}

TEST_F(HipDevices, HolesDoNotMakeADeviceFull) {
  std::vector<void*> blocks(16);
  for (void*& block : blocks) ASSERT_HIP(hipSuccess, hipMalloc(&block, 4 * kMiB));
  for (size_t i = 0; i < blocks.size(); i += 2) ASSERT_HIP(hipSuccess, hipFree(blocks[i]));
  void* big = nullptr;
  EXPECT_HIP(hipSuccess, hipMalloc(&big, 32 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(big));
  for (size_t i = 1; i < blocks.size(); i += 2) EXPECT_HIP(hipSuccess, hipFree(blocks[i]));
}

TEST_F(HipDevices, ManagedMemoryCountsToo) {
  void* managed = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMallocManaged(&managed, 65 * kMiB));
  ASSERT_HIP(hipSuccess, hipMallocManaged(&managed, 60 * kMiB));
  void* device = nullptr;
  EXPECT_HIP(hipErrorOutOfMemory, hipMalloc(&device, 8 * kMiB));
  EXPECT_HIP(hipSuccess, hipFree(managed));
}

TEST_F(HipDevices, FreeInStreamOrderMakesRoomForTheNext) {
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
  int can = 0;
  EXPECT_HIP(hipSuccess, hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
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
