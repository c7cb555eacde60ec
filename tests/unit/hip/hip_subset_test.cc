// SPDX-License-Identifier: MIT
//
// Every function that programs need: it is exported, found by name, and answers bad arguments with
// the error HIP documents.

#include "hip_subset_test.h"

#include <dlfcn.h>

#include <set>
#include <sstream>
#include <string>

#include "support/modes.h"

namespace hip_test {
namespace {

std::vector<BadCall> all_bad_calls() {
  std::vector<BadCall> all = bad_calls_of_devices();
  for (const auto& part : {bad_calls_of_memory(), bad_calls_of_streams()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// They have no argument, or take any.
const char* const kCannotFail =
    "hipDeviceGetStreamPriorityRange hipDeviceReset hipDeviceSynchronize hipGetErrorName "
    "hipGetErrorString hipGetLastError hipPeekAtLastError hipPortableDeviceIsEmulated "
    "hipPortableMarker hipPortablePassedOver hipPortableSetLastError ";

// What programs that use hipFile call, beyond that.
const char* const kNeeded =
    "hipSetDevice hipGetDevice hipGetDeviceCount hipDeviceSynchronize hipInit hipDeviceGet "
    "hipDeviceGetAttribute hipDeviceGetName hipDeviceGetUuid hipDeviceGetPCIBusId "
    "hipGetDeviceProperties hipGetDevicePropertiesR0600 hipDeviceCanAccessPeer hipDeviceReset "
    "hipCtxCreate hipCtxDestroy hipRuntimeGetVersion hipDriverGetVersion hipMalloc hipFree "
    "hipMemcpy hipMemcpyAsync hipMemcpyHtoD hipMemcpyDtoH hipMemcpyHtoDAsync "
    "hipMemcpyDtoHAsync hipMemset hipMemsetAsync hipMemsetD8 hipMallocManaged hipHostMalloc "
    "hipHostFree hipHostAlloc hipExtHostAlloc hipFreeHost hipMallocHost hipHostRegister "
    "hipHostUnregister hipHostGetDevicePointer hipHostGetFlags hipExtMallocWithFlags "
    "hipPointerGetAttributes hipMemGetAddressRange hipMemGetInfo hipMallocAsync hipFreeAsync "
    "hipMemcpyPeer hipStreamSynchronize hipStreamCreate hipStreamCreateWithFlags "
    "hipStreamCreateWithPriority hipStreamDestroy hipStreamQuery hipStreamWaitEvent "
    "hipStreamGetDevice hipStreamGetFlags hipStreamWaitValue32 hipStreamWaitValue64 "
    "hipStreamWriteValue32 hipStreamWriteValue64 hipEventCreate hipEventCreateWithFlags "
    "hipEventRecord hipEventQuery hipEventSynchronize hipEventElapsedTime hipEventDestroy "
    "hipLaunchHostFunc hipStreamAddCallback hipStreamIsCapturing hipStreamGetCaptureInfo "
    "hipThreadExchangeStreamCaptureMode hipStreamBeginCapture hipStreamEndCapture "
    "hipGraphDestroy hipGetErrorName hipGetErrorString hipDrvGetErrorName "
    "hipDrvGetErrorString hipGetLastError hipPeekAtLastError hipGetProcAddress hipAmdFileRead "
    "hipAmdFileWrite hipModuleLoadData hipModuleGetFunction hipModuleLaunchKernel "
    "hipModuleUnload hipLaunchKernel hipMemAddressReserve hipMemAddressFree hipMemCreate "
    "hipMemRelease hipMemMap hipMemUnmap hipMemSetAccess hipMemGetAllocationGranularity ";

std::set<std::string> all_names() {
  std::set<std::string> names;
  std::istringstream cannot_fail(kCannotFail);
  for (std::string name; cannot_fail >> name;) names.insert(name);
  for (const BadCall& call : all_bad_calls()) names.insert(call.name);
  return names;
}

TEST(HipSubset, BadArgumentsAnswerTheDocumentedError) {
  int row = 0;
  for (const BadCall& call : all_bad_calls()) {
    SCOPED_TRACE(call.name);
    (void)hipGetLastError();
    EXPECT_HIP(call.expected, call.call()) << "row " << row;
    // Those two need no runtime, and so no thread's state.
    const bool is_remembered = std::string(call.name).find("hipDrv") == std::string::npos;
    EXPECT_HIP(is_remembered ? call.expected : hipSuccess, hipGetLastError()) << "row " << row;
    ++row;
  }
}

TEST(HipSubset, EveryFunctionIsExportedAndFoundByName) {
  for (const std::string& name : all_names()) {
    void* const symbol = dlsym(RTLD_DEFAULT, name.c_str());
    EXPECT_NE(symbol, nullptr) << name;
    void* found = nullptr;
    // Found where a device has a path to files; ours only where AMD's rules are not played.
    const bool is_own = name == "hipPortableFileRead";
    const bool is_file_call = is_own || name.rfind("hipAmdFile", 0) == 0;
    if ((is_file_call && is_on_nvidia()) || (is_own && hipfile::test::has_kernel_rules())) {
      EXPECT_HIP(hipErrorNotFound,
                 hipGetProcAddress(name.c_str(), &found, HIP_VERSION, 0, nullptr));
      continue;
    }
    EXPECT_HIP(hipSuccess, hipGetProcAddress(name.c_str(), &found, HIP_VERSION, 0, nullptr));
    EXPECT_EQ(found, symbol) << name;
  }
}

// A driver that can load code says in its own words what is wrong with the image.
TEST(HipSubset, WhatIsNoCodeIsNotLoaded) {
  hipModule_t module = nullptr;
  const hipError_t error = hipModuleLoadData(&module, "code");
  const std::set<hipError_t> of_a_driver = {hipErrorInvalidImage, hipErrorInvalidKernelFile,
                                            hipErrorNoBinaryForGpu};
  EXPECT_EQ(of_a_driver.count(error), 1U) << hipGetErrorName(error);
  if (!is_on_nvidia()) {
    EXPECT_HIP(hipErrorNoBinaryForGpu, error);
  }
  EXPECT_EQ(module, nullptr);
  (void)hipGetLastError();
}

// The other way round hip_exports checks, against the headers.
TEST(HipSubset, TableHasAllThatProgramsNeed) {
  const std::set<std::string> table = all_names();
  std::istringstream needed(kNeeded);
  for (std::string name; needed >> name;) EXPECT_EQ(table.count(name), 1U) << name;
}

// They need no device, or are asked with what no device could make right.
const char* const kNeedNoDevice =
    "hipDrvGetErrorName hipDrvGetErrorString hipGetProcAddress hipRuntimeGetVersion ";

// NVIDIA's driver is asked for by name and of no use, for the reason in HIP_SUBSET_TEST_REASON.
TEST(HipSubset, EveryFunctionSaysWhyThereIsNoDevice) {
  const char* const text = std::getenv("HIP_SUBSET_TEST_REASON");
  if (text == nullptr) return;
  const auto reason = static_cast<hipError_t>(std::atoi(text));
  for (const BadCall& call : all_bad_calls()) {
    const bool is_free =
        std::string(kNeedNoDevice).find(call.name + std::string(" ")) != std::string::npos;
    EXPECT_HIP(is_free ? call.expected : reason, call.call()) << call.name;
  }
}

TEST(HipSubset, PriorityRangeAllowsNull) {
  EXPECT_HIP(hipSuccess, hipDeviceGetStreamPriorityRange(nullptr, nullptr));
}

TEST(HipSubset, CallsWithoutArgumentsWork) {
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  EXPECT_HIP(hipSuccess, hipDeviceReset());
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(2000)), "hipErrorUnknown");
  EXPECT_NE(hipGetErrorString(static_cast<hipError_t>(2001)), nullptr);
}

}  // namespace
}  // namespace hip_test
