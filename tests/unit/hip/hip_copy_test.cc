// SPDX-License-Identifier: MIT
//
// Copies and fills: bytes, directions, ranges.

#include <sys/mman.h>

#include "hip_test.h"

namespace {

using namespace hip_test;

constexpr size_t kSize = 3 * kMiB + 17;

TEST(HipCopy, RoundTripKeepsEveryByte) {
  const std::vector<char> bytes = pattern(kSize);
  const DeviceBuffer buffer(kSize);
  ASSERT_HIP(hipSuccess, hipMemcpy(buffer.data(), bytes.data(), kSize, hipMemcpyHostToDevice));
  EXPECT_EQ(contents(buffer.data(), kSize), bytes);
}

TEST(HipCopy, DefaultFindsTheDirection) {
  const std::vector<char> bytes = pattern(1000);
  const DeviceBuffer first(1000);
  const DeviceBuffer second(1000);
  std::vector<char> back(1000);
  EXPECT_HIP(hipSuccess, hipMemcpy(first.data(), bytes.data(), 1000, hipMemcpyDefault));
  EXPECT_HIP(hipSuccess, hipMemcpy(second.data(), first.data(), 1000, hipMemcpyDefault));
  EXPECT_HIP(hipSuccess, hipMemcpy(back.data(), second.data(), 1000, hipMemcpyDefault));
  EXPECT_EQ(back, bytes);
}

TEST(HipCopy, OneByteAtAnOddPlaceTouchesNoNeighbour) {
  const DeviceBuffer buffer(3);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 1, 3));
  const char two = 2;
  EXPECT_HIP(hipSuccess, hipMemcpyHtoD(buffer.data() + 1, &two, 1));
  EXPECT_EQ(contents(buffer.data(), 3), (std::vector<char>{1, 2, 1}));
}

TEST(HipCopy, DriverFormsCopy) {
  const std::vector<char> bytes = pattern(500);
  const DeviceBuffer buffer(500);
  const TestStream stream;
  std::vector<char> back(500);
  EXPECT_HIP(hipSuccess, hipMemcpyHtoDAsync(buffer.data(), bytes.data(), 500, stream.get()));
  EXPECT_HIP(hipSuccess, hipMemcpyDtoHAsync(back.data(), buffer.data(), 500, stream.get()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(back, bytes);
  std::fill(back.begin(), back.end(), '\0');
  EXPECT_HIP(hipSuccess, hipMemcpyDtoH(back.data(), buffer.data(), 500));
  EXPECT_EQ(back, bytes);
}

TEST(HipCopy, OverrunOfTheAllocationIsRefused) {
  const std::vector<char> bytes = pattern(2000);
  const DeviceBuffer buffer(1000);
  std::vector<char> back(2000);
  EXPECT_HIP(hipErrorInvalidValue,
             hipMemcpy(buffer.data(), bytes.data(), 1001, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue,
             hipMemcpy(back.data(), buffer.data() + 1, 1000, hipMemcpyDeviceToHost));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(buffer.data(), 0, 1001));
}

TEST(HipCopy, FreedMemoryIsRefused) {
  char* pointer = nullptr;
  char byte = 0;
  ASSERT_HIP(hipSuccess, hipMalloc(&pointer, 64));
  ASSERT_HIP(hipSuccess, hipFree(pointer));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(pointer, &byte, 1, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(&byte, pointer, 1, hipMemcpyDefault));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(pointer, &byte, 1, hipMemcpyDefault));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpyAsync(&byte, pointer, 1, hipMemcpyDefault, nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(&byte, pointer, 1, hipMemcpyHostToHost));
}

TEST(HipCopy, MemoryThatIsClosedToTheProgramIsRefused) {
  void* closed = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(closed, MAP_FAILED);
  const DeviceBuffer buffer(64);
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(buffer.data(), closed, 64, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(closed, buffer.data(), 64, hipMemcpyDefault));
  munmap(closed, 4096);
}

TEST(HipCopy, WrongDirectionIsRefused) {
  const DeviceBuffer buffer(64);
  char host[64] = {};
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(buffer.data(), host, 64, hipMemcpyDeviceToHost));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(host, host, 64, hipMemcpyHostToDevice));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(host, buffer.data(), 64, hipMemcpyHostToHost));
  EXPECT_HIP(hipErrorInvalidMemcpyDirection,
             hipMemcpy(buffer.data(), host, 64, static_cast<hipMemcpyKind>(77)));
}

TEST(HipCopy, PinnedMemoryStandsOnBothSides) {
  const PinnedBuffer first(64);
  const PinnedBuffer second(64);
  std::memset(first.data(), 4, 64);
  EXPECT_HIP(hipSuccess, hipMemcpy(second.data(), first.data(), 64, hipMemcpyDeviceToDevice));
  EXPECT_EQ(second.data()[63], 4);
  EXPECT_HIP(hipSuccess, hipMemcpy(second.data(), first.data(), 64, hipMemcpyHostToHost));
}

TEST(HipCopy, NothingIsAlwaysRight) {
  EXPECT_HIP(hipSuccess, hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
  EXPECT_HIP(hipSuccess, hipMemset(nullptr, 0, 0));
}

TEST(HipCopy, NullIsRefused) {
  char byte = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(nullptr, &byte, 1, hipMemcpyDefault));
  EXPECT_HIP(hipErrorInvalidValue, hipMemcpy(&byte, nullptr, 1, hipMemcpyDefault));
}

TEST(HipCopy, FillOfPlainHostMemoryIsRefused) {
  char byte = 0;
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(&byte, 0, 1));
}

TEST(HipCopy, FillWritesTheLowByte) {
  const DeviceBuffer buffer(100);
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data(), 0x1234, 100));
  EXPECT_EQ(contents(buffer.data(), 100), std::vector<char>(100, 0x34));
  EXPECT_HIP(hipSuccess, hipMemsetD8(buffer.data(), 7, 50));
  EXPECT_EQ(contents(buffer.data(), 50), std::vector<char>(50, 7));
}

TEST(HipCopy, PageableSourceMayBeReusedAfterAnAsyncCopy) {
  std::vector<char> bytes = pattern(kSize);
  const std::vector<char> original = bytes;
  const DeviceBuffer buffer(kSize);
  const TestStream stream;
  ASSERT_HIP(hipSuccess, hipMemcpyAsync(buffer.data(), bytes.data(), kSize, hipMemcpyHostToDevice,
                                        stream.get()));
  std::fill(bytes.begin(), bytes.end(), '\0');
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(contents(buffer.data(), kSize), original);
}

TEST(HipCopy, ManyThreadsCopyAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      const std::vector<char> bytes = pattern(kMiB, seed);
      const DeviceBuffer buffer(kMiB);
      for (int round = 0; round < 10; ++round) {
        EXPECT_HIP(hipSuccess,
                   hipMemcpy(buffer.data(), bytes.data(), kMiB, hipMemcpyHostToDevice));
        EXPECT_EQ(contents(buffer.data(), kMiB), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
