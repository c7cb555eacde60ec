// SPDX-License-Identifier: MIT
//
// The runtime as part of a process: devices, errors by thread, functions by name, children of fork,
// the end.

#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <string>

#include "hip_test.h"

namespace {

using namespace hip_test;

// Exit status of a child that runs `body`, -1 if a signal ended it.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a hang is a failure
    _exit(body());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HipDevice, Rule28_VersionIsOfHip7) {
  int version = 0;
  EXPECT_HIP(hipSuccess, hipRuntimeGetVersion(&version));
  EXPECT_EQ(version / 10000000, 7);
  EXPECT_HIP(hipErrorInvalidValue, hipRuntimeGetVersion(nullptr));
}

TEST(HipDevice, PropertiesAgreeWithTheOtherCalls) {
  hipDeviceProp_t properties;
  ASSERT_HIP(hipSuccess, hipGetDeviceProperties(&properties, 0));
  char name[256];
  int warp = 0;
  size_t free = 0;
  size_t total = 0;
  EXPECT_HIP(hipSuccess, hipDeviceGetName(name, sizeof(name), 0));
  EXPECT_STREQ(properties.name, name);
  EXPECT_HIP(hipSuccess, hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0));
  EXPECT_EQ(properties.warpSize, warp);
  ASSERT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
  EXPECT_EQ(properties.totalGlobalMem, total);
  EXPECT_EQ(hipPortableDeviceIsEmulated(0), is_on_nvidia() ? 0 : 1);
}

TEST(HipDevice, NameIsCutToFit) {
  char whole[256];
  char name[6];
  EXPECT_HIP(hipSuccess, hipDeviceGetName(whole, sizeof(whole), 0));
  EXPECT_HIP(hipSuccess, hipDeviceGetName(name, sizeof(name), 0));
  EXPECT_EQ(std::string(name), std::string(whole).substr(0, 5));
  EXPECT_HIP(hipErrorInvalidValue, hipDeviceGetName(name, 0, 0));
}

TEST(HipDevice, PciBusIdHasItsForm) {
  char id[13];
  EXPECT_HIP(hipSuccess, hipDeviceGetPCIBusId(id, sizeof(id), 0));
  const std::string form = "xxxx:xx:xx.x";
  ASSERT_EQ(std::strlen(id), form.size());
  for (size_t at = 0; at < form.size(); ++at) {
    const bool is_digit = std::isxdigit(static_cast<unsigned char>(id[at])) != 0;
    EXPECT_TRUE(form[at] == 'x' ? is_digit : id[at] == form[at]) << id;
  }
  EXPECT_HIP(hipErrorInvalidValue, hipDeviceGetPCIBusId(id, 12, 0));
}

TEST(HipDevice, UnknownAttributeIsRefused) {
  int value = 0;
  EXPECT_HIP(hipErrorInvalidValue,
             hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(5000), 0));
}

TEST(HipDevice, MissingOrdinalIsRefused) {
  int count = 0;
  ASSERT_HIP(hipSuccess, hipGetDeviceCount(&count));
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(count));
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(-1));
  int device = -1;
  EXPECT_HIP(hipSuccess, hipGetDevice(&device));
  EXPECT_EQ(device, 0);
}

TEST(HipDevice, ResetFreesMemoryAndStreams) {
  void* pointer = nullptr;
  hipStream_t stream = nullptr;
  ASSERT_HIP(hipSuccess, hipMalloc(&pointer, 4096));
  ASSERT_HIP(hipSuccess, hipStreamCreate(&stream));
  EXPECT_HIP(hipSuccess, hipDeviceReset());
  EXPECT_HIP(hipErrorInvalidValue, hipFree(pointer));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamDestroy(stream));
}

// It has no handle that a program could make anew.
TEST(HipDevice, StreamOfTheThreadIsThereAfterAReset) {
  ASSERT_HIP(hipSuccess, hipStreamQuery(hipStreamPerThread));
  ASSERT_HIP(hipSuccess, hipDeviceReset());
  EXPECT_HIP(hipSuccess, hipStreamQuery(hipStreamPerThread));
  EXPECT_HIP(hipSuccess, hipStreamQuery(nullptr));
}

TEST(HipError, LastErrorIsReportedOnce) {
  (void)hipGetLastError();
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(1000));
  EXPECT_HIP(hipErrorInvalidDevice, hipPeekAtLastError());
  EXPECT_HIP(hipErrorInvalidDevice, hipGetLastError());
  EXPECT_HIP(hipSuccess, hipGetLastError());
}

TEST(HipError, LastErrorStaysOverSuccess) {
  EXPECT_HIP(hipErrorInvalidDevice, hipSetDevice(1000));
  EXPECT_HIP(hipSuccess, hipSetDevice(0));
  EXPECT_HIP(hipErrorInvalidDevice, hipGetLastError());
}

TEST(HipError, LastErrorIsTheThreadsOwn) {
  (void)hipGetLastError();
  std::thread([] { (void)hipSetDevice(1000); }).join();
  EXPECT_HIP(hipSuccess, hipGetLastError());
}

TEST(HipError, LastErrorCanBePutBack) {
  (void)hipGetLastError();
  EXPECT_HIP(hipSuccess, hipPortableSetLastError(hipErrorNotFound));
  EXPECT_HIP(hipErrorNotFound, hipPortableSetLastError(hipSuccess));
}

TEST(HipProcAddress, FindsFunctionsByName) {
  void* function = nullptr;
  hipDriverProcAddressQueryResult result = HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  EXPECT_HIP(hipSuccess, hipGetProcAddress("hipGetDevice", &function, HIP_VERSION, 0, &result));
  EXPECT_EQ(result, HIP_GET_PROC_ADDRESS_SUCCESS);
  int device = -1;
  EXPECT_HIP(hipSuccess, reinterpret_cast<decltype(&hipGetDevice)>(function)(&device));
  EXPECT_EQ(device, 0);
}

TEST(HipProcAddress, FindsTheFirstAndTheLast) {
  void* function = nullptr;
  for (const char* name : {"hipAmdFileRead", "hipAmdFileWrite", "hipGetDeviceProperties",
                           "hipMemset", "hipMemcpy", "hipMemUnmap", "hipPortableMarker",
                           "hipThreadExchangeStreamCaptureMode"}) {
    // Those of files are found where a device has a direct path to them.
    const bool is_there = !is_on_nvidia() || std::string(name).rfind("hipAmdFile", 0) != 0;
    EXPECT_HIP(is_there ? hipSuccess : hipErrorNotFound,
               hipGetProcAddress(name, &function, HIP_VERSION, 0, nullptr))
        << name;
  }
}

TEST(HipProcAddress, UnknownNameIsNotFound) {
  void* function = &function;
  hipDriverProcAddressQueryResult result = HIP_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_HIP(hipErrorNotFound, hipGetProcAddress("hipNoSuch", &function, 0, 0, &result));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(result, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_HIP(hipErrorInvalidValue, hipGetProcAddress(nullptr, &function, 0, 0, nullptr));
}

TEST(HipProcAddress, MarkerNamesTheRuntime) {
  EXPECT_EQ(std::string(hipPortableMarker()).rfind("hip_portable ", 0), 0U);
}

TEST(HipFork, Rule33_ChildThatInheritedTheRuntimeGetsAnError) {
  const DeviceBuffer buffer(4096);
  ASSERT_NE(buffer.data(), nullptr);
  EXPECT_EQ(status_of_child([&] {
              void* pointer = nullptr;
              return hipMalloc(&pointer, 64) == hipErrorNotInitialized &&
                     hipFree(buffer.data()) == hipErrorNotInitialized &&
                     hipDeviceSynchronize() == hipErrorNotInitialized;
            }),
            1);
}

TEST(HipFork, Rule33_ParentGoesOn) {
  const DeviceBuffer buffer(4096);
  ASSERT_HIP(hipSuccess, hipMemset(buffer.data(), 3, 4096));
  EXPECT_EQ(status_of_child([] { return 5; }), 5);
  EXPECT_EQ(contents(buffer.data(), 4096), std::vector<char>(4096, 3));
}

TEST(HipFork, Rule33_ChildExitsInOrder) {
  ASSERT_HIP(hipSuccess, hipInit(0));
  EXPECT_EQ(status_of_child([]() -> int { std::exit(6); }), 6);
}

// Each runs in a process of its own, which the death test starts anew.
using HipExitDeathTest = testing::Test;

TEST(HipExitDeathTest, Rule6_QueuedWorkDoesNotHoldTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(60);
        hipStream_t stream = nullptr;
        void* flag = nullptr;
        (void)hipStreamCreate(&stream);
        if (hipHostMalloc(&flag, 64, 0) == hipSuccess) std::memset(flag, 0, 64);
        (void)hipStreamWaitValue32(stream, flag, 1, hipStreamWaitValueEq, ~0U);
        (void)hipLaunchHostFunc(stream, [](void*) { _exit(9); }, nullptr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// The emulated device works to the end; NVIDIA's driver may be gone, and every call says so.
TEST(HipExitDeathTest, Rule6_DeviceWorksInLateHandlers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        // Registered before the runtime starts, so it runs after the runtime's own handler.
        std::atexit([] {
          char byte = 4;
          char back = 0;
          void* pointer = nullptr;
          const hipError_t error = hipMalloc(&pointer, 1);
          if (is_on_nvidia()) _exit(error == hipErrorDeinitialized ? 8 : 9);
          const bool works =
              error == hipSuccess &&
              hipMemcpy(pointer, &byte, 1, hipMemcpyHostToDevice) == hipSuccess &&
              hipMemcpy(&back, pointer, 1, hipMemcpyDeviceToHost) == hipSuccess && back == 4;
          _exit(works ? 8 : 9);
        });
        (void)hipInit(0);
        std::exit(0);
      },
      testing::ExitedWithCode(8), "");
}

}  // namespace
