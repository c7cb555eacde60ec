// SPDX-License-Identifier: MIT
//
// The late-bound copy of a device of NVIDIA's driver. On a GPU these try the kernel itself; the
// fake driver knows how it must be loaded and launched.

#include <algorithm>
#include <string>

#include "cuda_device_fixture.h"

namespace hip_portable::cuda::test {
namespace {

constexpr std::size_t kLengths = 72;  // 0 to 71 bytes
constexpr std::size_t kRoom = 128;    // for one copy of these, with what must not change around it
constexpr std::size_t kAlignments = 16;

using Bytes = std::vector<unsigned char>;

// "" where both are the same.
std::string difference(const Bytes& expected, const Bytes& found) {
  std::size_t first = expected.size();
  std::size_t count = 0;
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (expected[at] == found[at]) continue;
    first = std::min(first, at);
    ++count;
  }
  if (count == 0) return "";
  return std::to_string(count) + " bytes, the first at " + std::to_string(first) + ": " +
         std::to_string(found[first]) + " for " + std::to_string(expected[first]);
}

class CudaIndirectTest : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    memory_ = static_cast<unsigned char*>(allocate(kSize));
    ASSERT_EQ(device().allocate_host(2 * kSize, 0, &pinned_), hipSuccess);
    const Bytes bytes = pattern(kSize);
    std::memcpy(host(), bytes.data(), kSize);
    stream_ = make_stream();
  }
  void TearDown() override {
    stream_ = nullptr;
    EXPECT_EQ(device().release_host(pinned_), hipSuccess);
    EXPECT_EQ(device().release(memory_), hipSuccess);
    CudaDeviceTest::TearDown();
  }

  unsigned char* host() { return static_cast<unsigned char*>(pinned_); }
  hipPortableIndirectCopy_t* descriptors() {
    return reinterpret_cast<hipPortableIndirectCopy_t*>(host() + kSize);
  }
  std::uint64_t* flag() { return reinterpret_cast<std::uint64_t*>(host() + 2 * kSize - 8); }

  void queue(std::size_t at, const hipPortableIndirectCopy_t& copy) {
    descriptors()[at] = copy;
    ASSERT_EQ(stream_->copy_indirect(&descriptors()[at]), hipSuccess);
  }
  void fill_device(unsigned char value) {
    ASSERT_EQ(stream_->fill(memory_, value, kSize), hipSuccess);
  }
  Bytes host_bytes() { return {host(), host() + kSize}; }
  Bytes device_bytes() {
    Bytes bytes(kSize);
    EXPECT_EQ(stream_->synchronize(), hipSuccess);
    EXPECT_EQ(device().copy(bytes.data(), memory_, kSize), hipSuccess);
    return bytes;
  }

  // Every short length, from one alignment to another, each in a room of its own.
  void copy_short(std::size_t from, std::size_t to) {
    fill_device(0);
    for (std::size_t length = 0; length < kLengths; ++length) {
      const std::size_t room = length * kRoom;
      queue(length, {memory_ + room + to, host() + room + from, length, nullptr, 0});
    }
    Bytes expected(kSize, 0);
    for (std::size_t length = 0; length < kLengths; ++length) {
      const std::size_t room = length * kRoom;
      std::memcpy(&expected[room + to], host() + room + from, length);
    }
    ASSERT_EQ(difference(expected, device_bytes()), "") << from << " to " << to;
  }

  void copy_long(std::size_t from, std::size_t to, std::size_t size) {
    fill_device(0);
    *flag() = 0;
    queue(0, {memory_ + to, host() + from, size, flag(), 7});
    Bytes expected(kSize, 0);
    std::memcpy(&expected[to], host() + from, size);
    ASSERT_EQ(difference(expected, device_bytes()), "") << from << " to " << to << ", " << size;
    ASSERT_EQ(*flag(), 7U);
  }

  // Asked of the fake driver: -1 on a real one.
  static int count(const char* function) {
    void* handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return -1;
    const auto ask = reinterpret_cast<int (*)()>(dlsym(handle, function));
    const int counted = ask != nullptr ? ask() : -1;
    dlclose(handle);
    return counted;
  }

  unsigned char* memory_ = nullptr;
  void* pinned_ = nullptr;
  std::unique_ptr<DeviceStream> stream_;
};

TEST_F(CudaIndirectTest, EveryAlignmentAndShortLength) {
  for (std::size_t from = 0; from < kAlignments; ++from) {
    for (std::size_t to = 0; to < kAlignments; ++to) copy_short(from, to);
  }
}

TEST_F(CudaIndirectTest, LongCopiesOfEveryDistance) {
  constexpr std::size_t kAll = kSize - 64;
  for (const std::size_t shift : {0U, 1U, 2U, 4U, 8U, 12U, 15U}) {
    copy_long(16, 16 + shift, kAll);
    copy_long(3, 3 + shift, kAll - 1);
  }
  copy_long(0, 0, kSize);
}

TEST_F(CudaIndirectTest, BackToTheHost) {
  queue(0, {memory_, host(), kSize, nullptr, 0});
  ASSERT_EQ(stream_->synchronize(), hipSuccess);
  std::memset(host(), 0, kSize);
  queue(0, {host() + 5, memory_ + 5, kSize - 5, nullptr, 0});
  ASSERT_EQ(stream_->synchronize(), hipSuccess);
  Bytes expected = pattern(kSize);
  std::fill_n(expected.begin(), 5, 0);
  EXPECT_EQ(difference(expected, host_bytes()), "");
}

TEST_F(CudaIndirectTest, OverlappingRangesMoveBothWays) {
  for (const std::size_t to : {0U, 1U, 1000U, 4096U, 5001U}) {
    ASSERT_EQ(stream_->copy(memory_, host(), kSize, false), hipSuccess);
    queue(0, {memory_ + to, memory_ + 1001, 100000, nullptr, 0});
    Bytes expected = host_bytes();
    std::memmove(&expected[to], &expected[1001], 100000);
    ASSERT_EQ(difference(expected, device_bytes()), "") << to;
  }
}

TEST_F(CudaIndirectTest, FlagIsStoredBehindTheBytes) {
  Bytes expected(kSize, 9);
  fill_device(9);
  *flag() = 0;
  queue(0, {host(), memory_, kSize, flag(), 42});
  if (HasFatalFailure()) return;  // it would never come
  while (__atomic_load_n(flag(), __ATOMIC_ACQUIRE) != 42) std::this_thread::yield();
  EXPECT_EQ(difference(expected, host_bytes()), "");
  ASSERT_EQ(stream_->synchronize(), hipSuccess);
}

// One launch counts its blocks apart from the others that are in flight.
TEST_F(CudaIndirectTest, StreamsSideBySideEachStoreTheirFlag) {
  constexpr std::size_t kStreams = 8;
  constexpr std::size_t kCopies = 100;
  std::vector<std::unique_ptr<DeviceStream>> streams;
  for (std::size_t at = 0; at < kStreams; ++at) streams.push_back(make_stream());
  auto* const flags = reinterpret_cast<std::uint64_t*>(host() + kSize + kSize / 2);
  std::memset(flags, 0, kStreams * kCopies * sizeof(*flags));
  for (std::size_t at = 0; at < kStreams * kCopies; ++at) {
    descriptors()[at] = {memory_ + at * 1024, host() + at * 1024, 1024, flags + at, at + 1};
    ASSERT_EQ(streams[at % kStreams]->copy_indirect(&descriptors()[at]), hipSuccess);
  }
  for (const auto& stream : streams) ASSERT_EQ(stream->synchronize(), hipSuccess);
  for (std::size_t at = 0; at < kStreams * kCopies; ++at) ASSERT_EQ(flags[at], at + 1);
  const Bytes bytes = device_bytes();
  EXPECT_EQ(std::memcmp(bytes.data(), host(), kStreams * kCopies * 1024), 0);
}

TEST_F(CudaIndirectTest, Rule9_CodeIsLoadedWithTheContextAndNeverLater) {
  if (count("fakeCudaModuleLoads") < 0) GTEST_SKIP() << "only the fake driver counts";
  const int copies = count("fakeCudaIndirectCopies");
  const int loads = count("fakeCudaModuleLoads");
  queue(0, {memory_, host(), kSize, nullptr, 0});
  queue(1, {memory_, host(), kSize, nullptr, 0});
  EXPECT_EQ(device().synchronize(), hipSuccess);
  EXPECT_EQ(count("fakeCudaIndirectCopies"), copies + 2);
  EXPECT_EQ(count("fakeCudaModuleLoads"), loads);
  hipError_t error = hipErrorUnknown;
  const std::vector<std::unique_ptr<Device>> fresh = make_cuda_devices(&error);
  PointerInfo info;
  EXPECT_EQ(fresh.front()->describe(memory_, &info), hipSuccess);
  EXPECT_EQ(info.base, memory_);
  EXPECT_EQ(count("fakeCudaModuleLoads"), loads);  // nothing has needed a context yet
  EXPECT_EQ(fresh.front()->synchronize(), hipSuccess);
  EXPECT_EQ(count("fakeCudaModuleLoads"), loads + 1);
}

TEST_F(CudaIndirectTest, DriverThatMayNotTranslateSaysSoAndDoesTheRest) {
  if (count("fakeCudaModuleLoads") < 0) GTEST_SKIP() << "the fake driver is told not to";
  setenv("FAKE_CUDA_NO_JIT", "1", 1);
  hipError_t error = hipErrorUnknown;
  const std::vector<std::unique_ptr<Device>> fresh = make_cuda_devices(&error);
  std::unique_ptr<DeviceStream> stream;
  EXPECT_EQ(fresh.front()->create_stream(hipStreamNonBlocking, 0, &stream), hipSuccess);
  unsetenv("FAKE_CUDA_NO_JIT");
  EXPECT_EQ(stream->copy_indirect(descriptors()), hipErrorNoBinaryForGpu);
  EXPECT_EQ(stream->copy(memory_, host(), kSize, false), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
}

TEST_F(CudaIndirectTest, ContextWithoutMemoryForTheKernelIsTriedAgain) {
  if (count("fakeCudaModuleLoads") < 0) GTEST_SKIP() << "the fake driver is told not to";
  hipError_t error = hipErrorUnknown;
  const std::vector<std::unique_ptr<Device>> fresh = make_cuda_devices(&error);
  std::unique_ptr<DeviceStream> stream;
  setenv("FAKE_CUDA_NO_JIT", "2", 1);
  EXPECT_EQ(fresh.front()->create_stream(hipStreamNonBlocking, 0, &stream), hipErrorOutOfMemory);
  EXPECT_EQ(fresh.front()->indirect_copy_status(), hipErrorOutOfMemory);
  unsetenv("FAKE_CUDA_NO_JIT");
  ASSERT_EQ(fresh.front()->create_stream(hipStreamNonBlocking, 0, &stream), hipSuccess);
  EXPECT_EQ(fresh.front()->indirect_copy_status(), hipSuccess);
  *descriptors() = {memory_, host(), kSize, nullptr, 0};
  EXPECT_EQ(stream->copy_indirect(descriptors()), hipSuccess);
  EXPECT_EQ(stream->synchronize(), hipSuccess);
}

}  // namespace
}  // namespace hip_portable::cuda::test
