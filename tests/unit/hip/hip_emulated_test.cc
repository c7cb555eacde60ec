// SPDX-License-Identifier: MIT
//
// What is the emulated device's own: its name, its threads, how it takes the machine's memory and
// gives it back.

#include <signal.h>

#include <fstream>
#include <string>

#include "hip_test.h"

namespace {

using namespace hip_test;

class HipEmulated : public testing::Test {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << "is about the emulated device";
  }
};

class HipEmulatedMemory : public HipEmulated {};

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

TEST_F(HipEmulated, SaysSoInEveryName) {
  hipDeviceProp_t properties;
  ASSERT_HIP(hipSuccess, hipGetDeviceProperties(&properties, 0));
  EXPECT_STREQ(properties.name, "hipFile emulated device");
  EXPECT_STREQ(properties.gcnArchName, "gfx000:emulated");
  EXPECT_EQ(properties.warpSize, 64);
  char id[13];
  EXPECT_HIP(hipSuccess, hipDeviceGetPCIBusId(id, sizeof(id), 0));
  EXPECT_STREQ(id, "ffff:00:00.0");
}

TEST_F(HipEmulated, Rule32_WorkersBlockSignalsAndHaveAName) {
  const TestStream stream;
  static std::atomic<int> is_right{0};
  const auto look = [](void*) {
    sigset_t mask;
    char name[16] = {};
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    pthread_getname_np(pthread_self(), name, sizeof(name));
    is_right = sigismember(&mask, SIGINT) == 1 && std::string(name) == "hip-stream";
  };
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), look, nullptr));
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  EXPECT_EQ(is_right.load(), 1);
}

// A driver promises 256 bytes.
TEST_F(HipEmulatedMemory, BlocksOfPagesAreAlignedToPages) {
  const DeviceBuffer buffer(5000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0U);
}

TEST_F(HipEmulatedMemory, BigBlocksAreAlignedTo2MiB) {
  const DeviceBuffer buffer(2 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (2 * kMiB), 0U);
}

TEST_F(HipEmulatedMemory, Rule26_IsTakenWhenTouched) {
  const size_t before = resident_shared_kib();
  const DeviceBuffer buffer(256 * kMiB);
  EXPECT_LT(resident_shared_kib(), before + 1024);
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data() + 100 * kMiB, 1, 8 * kMiB));
  EXPECT_LE(resident_shared_kib(), before + 12 * 1024);
}

TEST_F(HipEmulatedMemory, Rule26_FirstTouchTakesTwoMebibytesAtOnce) {
  const DeviceBuffer buffer(256 * kMiB);
  const size_t before = resident_shared_kib();
  EXPECT_HIP(hipSuccess, hipMemset(buffer.data() + 201 * kMiB, 1, 1));
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  EXPECT_EQ(resident_shared_kib(), before + 2 * 1024);
}

TEST_F(HipEmulatedMemory, Rule26_FreedGoesBackBeyondThePool) {
  const size_t before = resident_shared_kib();
  {
    const DeviceBuffer buffer(192 * kMiB);
    ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 1, 192 * kMiB));
    ASSERT_GE(resident_shared_kib(), before + 100 * 1024);
  }
  EXPECT_LE(resident_shared_kib(), before + 64 * 1024);
}

TEST_F(HipEmulatedMemory, Rule26_ManySmallFreedBlocksGoBackBeyondThePool) {
  const size_t before = resident_shared_kib();
  std::vector<void*> blocks(12 * 1024);
  for (void*& block : blocks) {
    ASSERT_HIP(hipSuccess, hipMalloc(&block, 12 * kKiB));
    ASSERT_HIP(hipSuccess, hipMemset(block, 1, 12 * kKiB));
  }
  for (void* block : blocks) ASSERT_HIP(hipSuccess, hipFree(block));
  EXPECT_LE(resident_shared_kib(), before + 65 * 1024);
}

}  // namespace
