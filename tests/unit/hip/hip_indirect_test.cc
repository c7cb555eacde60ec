// SPDX-License-Identifier: MIT
//
// The late-bound copy: operands that are known when the stream gets there, and a runtime without it
// (HIP_PORTABLE_WITHOUT).

#include <dlfcn.h>
#include <unistd.h>

#include "hip_test.h"

namespace {

using namespace hip_test;

using Copy = hipPortableIndirectCopy_t;

bool lacks(const char* what) {
  const char* without = std::getenv("HIP_PORTABLE_WITHOUT");
  return without != nullptr && std::strstr(without, what) != nullptr;
}

class HipIndirectCopy : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<char> bytes = pattern(kHalf);
    std::memcpy(source(), bytes.data(), kHalf);
    ASSERT_HIP(hipSuccess, hipMemset(device_.data(), 0, kMiB));
  }

  Copy* descriptor() { return reinterpret_cast<Copy*>(pinned_.data()); }
  uint64_t* flag() { return reinterpret_cast<uint64_t*>(pinned_.data() + 256); }
  char* source() { return pinned_.data() + kHalf; }
  std::vector<char> source_bytes(size_t size) { return {source(), source() + size}; }
  hipError_t queue() { return hipPortableMemcpyIndirectAsync(stream_.get(), descriptor()); }

  // A copy of this descriptor is an error of the stream, moves nothing and stores no flag.
  void expect_refused(const Copy& copy) {
    const TestStream stream;
    *descriptor() = copy;
    ASSERT_HIP(hipSuccess, hipPortableMemcpyIndirectAsync(stream.get(), descriptor()));
    EXPECT_HIP(hipErrorIllegalAddress, hipStreamSynchronize(stream.get()));
    EXPECT_EQ(*flag(), 0U);
    EXPECT_EQ(contents(device_.data(), kMiB), std::vector<char>(kMiB, 0));
  }

  static constexpr size_t kHalf = kMiB / 2;
  const PinnedBuffer pinned_{kMiB};
  const DeviceBuffer device_{kMiB};
  const TestStream stream_;
};

TEST_F(HipIndirectCopy, IsFoundByNameAndByTheLoader) {
  void* function = nullptr;
  EXPECT_HIP(hipSuccess, hipGetProcAddress("hipPortableMemcpyIndirectAsync", &function, HIP_VERSION,
                                           0, nullptr));
  EXPECT_EQ(function, reinterpret_cast<void*>(&hipPortableMemcpyIndirectAsync));
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "hipPortableMemcpyIndirectAsync"));
}

TEST_F(HipIndirectCopy, LayoutIsFixed) {
  EXPECT_EQ(sizeof(Copy), 40U);
  EXPECT_EQ(offsetof(Copy, source), 8U);
  EXPECT_EQ(offsetof(Copy, size), 16U);
  EXPECT_EQ(offsetof(Copy, flag), 24U);
  EXPECT_EQ(offsetof(Copy, flag_value), 32U);
}

TEST_F(HipIndirectCopy, OperandsAreReadWhenTheStreamGetsThere) {
  Gate gate;
  *descriptor() = {device_.data() + 7, source(), kHalf, nullptr, 0};
  ASSERT_HIP(hipSuccess, gate.close_stream(stream_.get()));
  ASSERT_HIP(hipSuccess, queue());
  descriptor()->size = 1001;  // a short read
  descriptor()->destination = device_.data() + 100;
  gate.open();
  ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream_.get()));
  std::vector<char> expected(kMiB, 0);
  std::copy_n(source(), 1001, expected.begin() + 100);
  EXPECT_EQ(contents(device_.data(), kMiB), expected);
}

TEST_F(HipIndirectCopy, FlagIsStoredWhenTheBytesHaveArrived) {
  *descriptor() = {source(), device_.data(), kHalf, flag(), 42};
  ASSERT_HIP(hipSuccess, hipMemset(device_.data(), 3, kHalf));
  ASSERT_HIP(hipSuccess, queue());
  while (__atomic_load_n(flag(), __ATOMIC_ACQUIRE) != 42) std::this_thread::yield();
  EXPECT_EQ(source_bytes(kHalf), std::vector<char>(kHalf, 3));
}

TEST_F(HipIndirectCopy, NothingCopiesNothingAndStoresTheFlag) {
  *descriptor() = {nullptr, nullptr, 0, flag(), 5};
  ASSERT_HIP(hipSuccess, queue());
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream_.get()));
  EXPECT_EQ(*flag(), 5U);
  EXPECT_EQ(contents(device_.data(), kMiB), std::vector<char>(kMiB, 0));
}

TEST_F(HipIndirectCopy, FlagInDeviceMemoryReleasesAnotherStream) {
  const TestStream waiting(hipStreamNonBlocking);
  const DeviceBuffer value(8);
  ASSERT_HIP(hipSuccess, hipMemset(value.data(), 0, 8));
  auto* const device_flag = reinterpret_cast<uint64_t*>(value.data());
  *descriptor() = {device_.data(), source(), 64, device_flag, 9};
  ASSERT_HIP(hipSuccess, hipStreamWaitValue64(waiting.get(), device_flag, 9, hipStreamWaitValueEq));
  ASSERT_HIP(hipSuccess, queue());
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(waiting.get()));
  EXPECT_EQ(contents(device_.data(), 64), source_bytes(64));
}

constexpr char kFaultIsForGood[] = "on NVIDIA a fault ends the device for the process";

TEST_F(HipIndirectCopy, WrongDescriptorIsAnErrorOfTheStream) {
  if (is_on_nvidia()) GTEST_SKIP() << kFaultIsForGood;
  std::vector<char> plain(64);
  void* freed = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&freed, 64));
  ASSERT_HIP(hipSuccess, hipFree(freed));
  auto* const odd = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(flag()) + 4);
  auto* const nowhere = reinterpret_cast<uint64_t*>(uintptr_t{8});
  expect_refused({device_.data(), nullptr, 64, flag(), 1});
  expect_refused({nullptr, source(), 64, flag(), 1});
  expect_refused({device_.data(), plain.data(), 64, flag(), 1});
  expect_refused({freed, source(), 64, flag(), 1});
  expect_refused({device_.data(), source(), kHalf + 1, flag(), 1});
  expect_refused({device_.data() + kMiB - 63, source(), 64, flag(), 1});
  expect_refused({device_.data(), source(), UINT64_MAX, flag(), 1});
  expect_refused({device_.data(), source(), 64, odd, 1});
  expect_refused({device_.data(), source(), 64, nowhere, 1});
  expect_refused({nullptr, nullptr, 0, nowhere, 1});
}

TEST_F(HipIndirectCopy, ErrorStaysAndWorkBehindItRuns) {
  if (is_on_nvidia()) GTEST_SKIP() << kFaultIsForGood;
  std::atomic<bool> is_done{false};
  hipStream_t stream = nullptr;
  ASSERT_HIP(hipSuccess, hipStreamCreate(&stream));
  *descriptor() = {device_.data(), nullptr, 64, nullptr, 0};
  ASSERT_HIP(hipSuccess, hipPortableMemcpyIndirectAsync(stream, descriptor()));
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream, &set_flag, &is_done));
  EXPECT_HIP(hipErrorIllegalAddress, hipStreamSynchronize(stream));
  EXPECT_TRUE(is_done.load());
  EXPECT_HIP(hipErrorIllegalAddress, hipStreamSynchronize(stream));
  EXPECT_HIP(hipErrorIllegalAddress, hipStreamQuery(stream));
  EXPECT_HIP(hipErrorIllegalAddress, hipDeviceSynchronize());
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream_.get()));
  EXPECT_HIP(hipSuccess, hipStreamDestroy(stream));
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
}

TEST_F(HipIndirectCopy, DescriptorLiesWhereHostAndDeviceReachIt) {
  alignas(8) char plain[64] = {};
  const auto at = [](char* place) { return reinterpret_cast<Copy*>(place); };
  const auto queue = [&](Copy* copy) {
    return hipPortableMemcpyIndirectAsync(stream_.get(), copy);
  };
  EXPECT_HIP(hipErrorInvalidValue, queue(nullptr));
  EXPECT_HIP(hipErrorInvalidValue, queue(at(plain)));
  EXPECT_HIP(hipErrorInvalidValue, queue(at(device_.data())));
  EXPECT_HIP(hipErrorInvalidValue, queue(at(pinned_.data() + 4)));
  EXPECT_HIP(hipErrorInvalidValue, queue(at(pinned_.data() + kMiB - 32)));
  EXPECT_HIP(hipErrorInvalidHandle,
             hipPortableMemcpyIndirectAsync(unknown_stream(), descriptor()));
  ASSERT_HIP(hipSuccess, hipHostRegister(plain, sizeof(plain), hipHostRegisterDefault));
  EXPECT_HIP(hipSuccess, queue(at(plain)));  // all zero: nothing to copy
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream_.get()));
  EXPECT_HIP(hipSuccess, hipHostUnregister(plain));
}

// What is wrong with a descriptor; each is met in a process of its own.
struct WrongCopy {
  const char* name;
  bool has_destination;
  bool has_source;
  uintptr_t flag;  // 0: one that is right
};

constexpr WrongCopy kWrongCopies[] = {
    {"NoDestination", false, true, 0},
    {"NoSource", true, false, 0},
    {"FlagNowhere", true, true, 8},
};

// The exit status is 0 if the stream says what was wrong, and on NVIDIA all that follows says so.
[[noreturn]] void meet(const WrongCopy& wrong) {
  alarm(60);  // a hang is a failure
  const PinnedBuffer pinned(kMiB);
  const DeviceBuffer device(kMiB);
  const TestStream stream;
  auto* const flag = reinterpret_cast<uint64_t*>(pinned.data() + 256);
  auto* const copy = reinterpret_cast<Copy*>(pinned.data());
  *copy = {wrong.has_destination ? device.data() : nullptr,
           wrong.has_source ? pinned.data() + 4096 : nullptr, 64,
           wrong.flag == 0 ? flag : reinterpret_cast<uint64_t*>(wrong.flag), 1};
  if (hipPortableMemcpyIndirectAsync(stream.get(), copy) != hipSuccess) _exit(1);
  if (hipStreamSynchronize(stream.get()) != hipErrorIllegalAddress) _exit(2);
  if (*flag != 0) _exit(3);
  void* more = nullptr;
  const hipError_t after = is_on_nvidia() ? hipErrorIllegalAddress : hipSuccess;
  if (hipMalloc(&more, 64) != after) _exit(4);
  if (hipDeviceSynchronize() != hipErrorIllegalAddress) _exit(5);
  _exit(0);
}

class HipWrongCopyDeathTest : public testing::TestWithParam<WrongCopy> {};

TEST_P(HipWrongCopyDeathTest, StreamAndDeviceSaySo) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(meet(GetParam()), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(, HipWrongCopyDeathTest, testing::ValuesIn(kWrongCopies),
                         [](const auto& row) { return row.param.name; });

// In variants with HIP_PORTABLE_WITHOUT these show what is missing, elsewhere that it is there.

TEST(HipWithout, IndirectCopyIsNeitherFoundNorSupported) {
  const bool is_missing = lacks("indirect-copy");
  void* function = nullptr;
  EXPECT_HIP(
      is_missing ? hipErrorNotFound : hipSuccess,
      hipGetProcAddress("hipPortableMemcpyIndirectAsync", &function, HIP_VERSION, 0, nullptr));
  const PinnedBuffer pinned(64);
  EXPECT_HIP(is_missing ? hipErrorNotSupported : hipSuccess,
             hipPortableMemcpyIndirectAsync(nullptr, reinterpret_cast<Copy*>(pinned.data())));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(nullptr));
}

TEST(HipWithout, WaitValueIsNotSupportedAndTheAttributeSaysSo) {
  const bool is_missing = lacks("wait-value");
  const hipError_t expected = is_missing ? hipErrorNotSupported : hipSuccess;
  int can = -1;
  EXPECT_HIP(hipSuccess, hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
  EXPECT_EQ(can, is_missing ? 0 : 1);
  const PinnedBuffer value(8);
  const TestStream stream;
  EXPECT_HIP(expected, hipStreamWriteValue32(stream.get(), value.data(), 1, 0));
  EXPECT_HIP(expected, hipStreamWriteValue64(stream.get(), value.data(), 1, 0));
  EXPECT_HIP(expected, hipStreamWaitValue32(stream.get(), value.data(), 1, hipStreamWaitValueEq));
  EXPECT_HIP(expected, hipStreamWaitValue64(stream.get(), value.data(), 1, hipStreamWaitValueEq));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
}

}  // namespace
