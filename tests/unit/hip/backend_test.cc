// SPDX-License-Identifier: MIT
//
// Which device the runtime offers, seen by a program: the same calls over NVIDIA's driver (the fake
// one, from RAM), over the emulated device, and with a driver that is not there. The environment
// variable BACKEND_TEST_EXPECTS says what this process must meet.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hip/hip_portable.h>
#include <hip/hip_runtime.h>

namespace {

std::string expected() {
  const char* text = std::getenv("BACKEND_TEST_EXPECTS");
  return text != nullptr ? text : "emulated";
}

// What calls answer where there is no device: a number in BACKEND_TEST_REASON.
hipError_t reason() {
  const char* text = std::getenv("BACKEND_TEST_REASON");
  return static_cast<hipError_t>(text != nullptr ? std::atoi(text) : 0);
}

// Needs a device; not run where there is none.
class BackendTest : public ::testing::Test {};

TEST(BackendChoice, DeviceIsOfTheExpectedKind) {
  int count = -1;
  const hipError_t error = hipGetDeviceCount(&count);
  if (expected() == "none") {
    EXPECT_EQ(error, reason());
    EXPECT_EQ(count, 0);
    EXPECT_EQ(hipPortableDeviceIsEmulated(0), -1);
    return;
  }
  EXPECT_EQ(error, hipSuccess);
  EXPECT_GE(count, 1);
  EXPECT_EQ(hipPortableDeviceIsEmulated(0), expected() == "emulated" ? 1 : 0);
  if (hipPortableDeviceIsEmulated(0) == 0) {
    EXPECT_EQ(hipPortablePassedOver(), hipSuccess);
  }
}

// The driver that was asked for by name is of no use: each call says why, and nothing replaces it.
TEST(BackendChoice, EveryCallSaysWhyTheDriverCannotBeUsed) {
  if (expected() != "none") return;
  void* memory = nullptr;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  int ordinal = 0;
  EXPECT_EQ(hipInit(0), reason());
  EXPECT_EQ(hipSetDevice(0), reason());
  EXPECT_EQ(hipGetDevice(&ordinal), reason());
  EXPECT_EQ(hipMalloc(&memory, 16), reason());
  EXPECT_EQ(hipHostMalloc(&memory, 16), reason());
  EXPECT_EQ(hipMemcpy(&ordinal, &ordinal, 4, hipMemcpyDefault), reason());
  EXPECT_EQ(hipStreamCreate(&stream), reason());
  EXPECT_EQ(hipEventCreate(&event), reason());
  EXPECT_EQ(hipDeviceSynchronize(), reason());
  EXPECT_EQ(hipMemAddressReserve(&memory, 2 << 20, 0, nullptr, 0), reason());
  EXPECT_EQ(hipGetLastError(), reason());
}

TEST_F(BackendTest, CopyRoundTrip) {
  const std::vector<char> sent(100000, 'x');
  std::vector<char> received(sent.size());
  void* memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, sent.size()), hipSuccess);
  EXPECT_EQ(hipMemcpy(memory, sent.data(), sent.size(), hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(hipMemset(memory, 'y', 10), hipSuccess);
  EXPECT_EQ(hipMemcpy(received.data(), memory, sent.size(), hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(std::string(received.data(), 11), "yyyyyyyyyyx");
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

TEST_F(BackendTest, CopyBeyondTheAllocationIsInvalid) {
  void* memory = nullptr;
  std::vector<char> host(8192);
  ASSERT_EQ(hipMalloc(&memory, 4096), hipSuccess);
  EXPECT_EQ(hipMemcpy(memory, host.data(), 8192, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

TEST_F(BackendTest, StreamsAndEvents) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  void* memory = nullptr;
  std::vector<char> host(4096);
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
  ASSERT_EQ(hipMalloc(&memory, host.size()), hipSuccess);
  EXPECT_EQ(hipMemsetAsync(memory, 7, host.size(), stream), hipSuccess);
  EXPECT_EQ(hipMemcpyAsync(host.data(), memory, host.size(), hipMemcpyDeviceToHost, stream),
            hipSuccess);
  EXPECT_EQ(hipEventRecord(event, stream), hipSuccess);
  EXPECT_EQ(hipEventSynchronize(event), hipSuccess);
  EXPECT_EQ(host.back(), 7);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(hipEventDestroy(event), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipStreamQuery(stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

TEST_F(BackendTest, PointerAttributesTellTheMemoryKinds) {
  void* device = nullptr;
  void* pinned = nullptr;
  int plain = 0;
  hipPointerAttribute_t attributes;
  ASSERT_EQ(hipMalloc(&device, 4096), hipSuccess);
  ASSERT_EQ(hipHostMalloc(&pinned, 4096), hipSuccess);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, device), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, device);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, pinned), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, &plain), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  EXPECT_EQ(hipMemGetAddressRange(&base, &size, static_cast<char*>(device) + 99), hipSuccess);
  EXPECT_EQ(base, device);
  EXPECT_EQ(size, 4096U);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(hipFree(device), hipSuccess);
}

TEST_F(BackendTest, IdentityIsConsistent) {
  hipDeviceProp_t properties;
  char bus[16] = "";
  char name[256] = "";
  hipUUID uuid;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  ASSERT_EQ(hipDeviceGetName(name, sizeof(name), 0), hipSuccess);
  ASSERT_EQ(hipDeviceGetUuid(&uuid, 0), hipSuccess);
  ASSERT_EQ(hipDeviceGetPCIBusId(bus, sizeof(bus), 0), hipSuccess);
  EXPECT_STREQ(properties.name, name);
  EXPECT_EQ(std::memcmp(&properties.uuid, &uuid, sizeof(uuid)), 0);
  EXPECT_EQ(std::strlen(bus), 12U);
}

TEST_F(BackendTest, BadDeviceIsRefused) {
  int count = 0;
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(hipSetDevice(count), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
}

TEST_F(BackendTest, HostFunctionAndWaitValue) {
  void* flag = nullptr;
  int calls = 0;
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipExtMallocWithFlags(&flag, 8, hipMallocSignalMemory), hipSuccess);
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  EXPECT_EQ(hipStreamWriteValue64(stream, flag, 5, 0), hipSuccess);
  EXPECT_EQ(hipStreamWaitValue64(stream, flag, 5, hipStreamWaitValueEq), hipSuccess);
  const hipHostFn_t count = [](void* data) { ++*static_cast<int*>(data); };
  EXPECT_EQ(hipLaunchHostFunc(stream, count, &calls), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipFree(flag), hipSuccess);
}

TEST_F(BackendTest, OutOfMemoryIsAnAnswer) {
  size_t free = 0;
  size_t total = 0;
  void* memory = nullptr;
  ASSERT_EQ(hipMemGetInfo(&free, &total), hipSuccess);
  EXPECT_EQ(hipMalloc(&memory, total + 4096), hipErrorOutOfMemory);
  EXPECT_EQ(hipGetLastError(), hipErrorOutOfMemory);
}

// A program that uses the driver beside HIP, as a framework does. Its types are the driver's.
class DriverUser {
 public:
  DriverUser() : library_(::dlopen(std::getenv("HIP_PORTABLE_CUDA_LIBRARY"), RTLD_NOW)) {}
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library_, name));
    return function != nullptr ? function(arguments...) : -1;
  }

 private:
  void* library_;
};

TEST_F(BackendTest, StreamOfAProgramThatUsesTheDriverToo) {
  if (expected() != "cuda") GTEST_SKIP() << "needs a driver";
  void* memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 64), hipSuccess);
  const DriverUser driver;
  void* context = nullptr;
  hipStream_t stream = nullptr;
  ASSERT_EQ(driver.call("cuDevicePrimaryCtxRetain", &context, 0), 0);
  ASSERT_EQ(driver.call("cuCtxPushCurrent_v2", context), 0);
  ASSERT_EQ(driver.call("cuStreamCreateWithPriority", &stream, 1U, 0), 0);

  const char sent[64] = "through a stream that HIP did not make";
  char received[64] = "";
  EXPECT_EQ(hipMemcpyAsync(memory, sent, 64, hipMemcpyHostToDevice, stream), hipSuccess);
  EXPECT_EQ(hipMemcpyAsync(received, memory, 64, hipMemcpyDeviceToHost, stream), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_STREQ(received, sent);
  hipDevice_t device = -1;
  EXPECT_EQ(hipStreamGetDevice(stream, &device), hipSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hipStreamDestroy(stream), hipErrorInvalidHandle);  // it is not ours

  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  (void)driver.call("fakeCudaSetCaptureStatus", stream, 1);
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusActive);

  EXPECT_EQ(driver.call("cuStreamDestroy_v2", stream), 0);
  EXPECT_EQ(driver.call("cuCtxPopCurrent_v2", &context), 0);
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

TEST_F(BackendTest, Rule12_CaptureModeOfTheThreadIsTheDriversToo) {
  if (expected() != "cuda") GTEST_SKIP() << "needs a driver";
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  int drivers = hipStreamCaptureModeRelaxed;
  EXPECT_EQ(DriverUser().call("cuThreadExchangeStreamCaptureMode", &drivers), 0);
  EXPECT_EQ(drivers, hipStreamCaptureModeRelaxed);
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
}

TEST_F(BackendTest, DestroyedStreamIsNoStreamOfTheDriver) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorInvalidHandle);
}

// Two devices of the fake driver: asking about memory of one, and freeing it while the other is
// current, makes no context on the other.
TEST_F(BackendTest, Rule3_ContextIsMadeOnTheDeviceOfThePointer) {
  int count = 0;
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  const char* library = std::getenv("HIP_PORTABLE_CUDA_LIBRARY");
  void* driver = library != nullptr ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  const auto has_context = reinterpret_cast<int (*)(int)>(
      driver != nullptr ? dlsym(driver, "fakeCudaHasContext") : nullptr);
  if (has_context == nullptr || count < 2) GTEST_SKIP() << "needs two devices that can be asked";
  void* memory = nullptr;
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  ASSERT_EQ(hipMalloc(&memory, 4096), hipSuccess);
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  hipPointerAttribute_t attributes;
  EXPECT_EQ(hipPointerGetAttributes(&attributes, memory), hipSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(hipFree(memory), hipSuccess);
  EXPECT_EQ(has_context(1), 1);
  EXPECT_EQ(has_context(0), 0);
  dlclose(driver);
}

// The driver does not survive a fork: the child gets an answer and no call of it is made.
TEST_F(BackendTest, Rule33_ChildOfForkGetsCleanErrors) {
  void* memory = nullptr;
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 4096), hipSuccess);
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    void* more = nullptr;
    const bool is_clean = hipMalloc(&more, 16) == hipErrorNotInitialized &&
                          hipFree(memory) == hipErrorNotInitialized &&
                          hipStreamSynchronize(stream) == hipErrorNotInitialized &&
                          hipDeviceSynchronize() == hipErrorNotInitialized;
    _exit(is_clean ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

}  // namespace
