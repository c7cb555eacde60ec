/* SPDX-License-Identifier: MIT */
/*
 * The HIP headers as C: values and layouts are those of HIP 6/7 on AMD's platform. All checks are
 * static; hip_header_test.cc calls the one function to show that the file is linked.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_portable.h>
#include <hip/hip_runtime.h>

#define CHECK(condition) _Static_assert(condition, #condition)
#define CHECK_OFFSET(type, field, offset) CHECK(offsetof(type, field) == (offset))

int hip_header_c_answer(void);

CHECK(hipErrorInvalidValue == 1 && hipErrorOutOfMemory == 2 && hipErrorMemoryAllocation == 2);
CHECK(hipErrorNotInitialized == 3 && hipErrorDeinitialized == 4);
CHECK(hipErrorInvalidDevicePointer == 17 && hipErrorInvalidMemcpyDirection == 21);
CHECK(hipErrorInvalidDeviceFunction == 98 && hipErrorNoDevice == 100);
CHECK(hipErrorInvalidDevice == 101 && hipErrorInvalidContext == 201);
CHECK(hipErrorNoBinaryForGpu == 209 && hipErrorInvalidHandle == 400);
CHECK(hipErrorNotFound == 500 && hipErrorNotReady == 600 && hipErrorIllegalAddress == 700);
CHECK(hipErrorHostMemoryAlreadyRegistered == 712 && hipErrorHostMemoryNotRegistered == 713);
CHECK(hipErrorLaunchFailure == 719 && hipErrorNotSupported == 801);
CHECK(hipErrorStreamCaptureUnsupported == 900 && hipErrorStreamCaptureImplicit == 906);
CHECK(hipErrorUnknown == 999 && hipErrorRuntimeMemory == 1052 && hipErrorRuntimeOther == 1053);
CHECK(sizeof(hipError_t) == 4);

CHECK(hipMemcpyHostToHost == 0 && hipMemcpyHostToDevice == 1 && hipMemcpyDeviceToHost == 2);
CHECK(hipMemcpyDeviceToDevice == 3 && hipMemcpyDefault == 4);
CHECK(hipMemcpyDeviceToDeviceNoCU == 1024);
CHECK(hipMemoryTypeUnregistered == 0 && hipMemoryTypeHost == 1 && hipMemoryTypeDevice == 2);
CHECK(hipMemoryTypeManaged == 3 && hipMemoryTypeArray == 10 && hipMemoryTypeUnified == 11);

CHECK(sizeof(hipPointerAttribute_t) == 32);
CHECK_OFFSET(hipPointerAttribute_t, type, 0);
CHECK_OFFSET(hipPointerAttribute_t, device, 4);
CHECK_OFFSET(hipPointerAttribute_t, devicePointer, 8);
CHECK_OFFSET(hipPointerAttribute_t, hostPointer, 16);
CHECK_OFFSET(hipPointerAttribute_t, isManaged, 24);
CHECK_OFFSET(hipPointerAttribute_t, allocationFlags, 28);

CHECK(sizeof(hipDeviceProp_t) == 1472);
CHECK_OFFSET(hipDeviceProp_t, uuid, 256);
CHECK_OFFSET(hipDeviceProp_t, totalGlobalMem, 288);
CHECK_OFFSET(hipDeviceProp_t, multiProcessorCount, 388);
CHECK_OFFSET(hipDeviceProp_t, pciBusID, 584);
CHECK_OFFSET(hipDeviceProp_t, managedMemory, 652);
CHECK_OFFSET(hipDeviceProp_t, hostRegisterSupported, 728);
CHECK_OFFSET(hipDeviceProp_t, reserved, 780);
CHECK_OFFSET(hipDeviceProp_t, gcnArchName, 1160);
CHECK_OFFSET(hipDeviceProp_t, maxSharedMemoryPerMultiProcessor, 1416);
CHECK_OFFSET(hipDeviceProp_t, asicRevision, 1468);

CHECK(hipDeviceAttributeEccEnabled == 0 && hipDeviceAttributeMaxThreadsPerBlock == 56);
CHECK(hipDeviceAttributeMultiprocessorCount == 63 && hipDeviceAttributePciBusId == 67);
CHECK(hipDeviceAttributePciDeviceId == 68 && hipDeviceAttributePciDomainID == 69);
CHECK(hipDeviceAttributeUnifiedAddressing == 85 && hipDeviceAttributeWarpSize == 87);
CHECK(hipDeviceAttributeHostRegisterSupported == 90);
CHECK(hipDeviceAttributeClockInstructionRate == 10000);
CHECK(hipDeviceAttributeCanUseStreamWaitValue == 10013);

CHECK(sizeof(hipMemAllocationProp) == 32);
CHECK_OFFSET(hipMemAllocationProp, requestedHandleType, 4);
CHECK_OFFSET(hipMemAllocationProp, location, 8);
CHECK_OFFSET(hipMemAllocationProp, win32HandleMetaData, 16);
CHECK_OFFSET(hipMemAllocationProp, allocFlags, 24);
CHECK(sizeof(hipMemAccessDesc) == 12 && hipMemAccessFlagsProtReadWrite == 3);
CHECK(hipMemLocationTypeDevice == 1 && hipMemAllocationTypePinned == 1);

CHECK(hipStreamNonBlocking == 1 && hipEventDisableTiming == 2 && hipMallocSignalMemory == 2);
CHECK(hipHostRegisterMapped == 2 && hipHostMallocPortable == 1 && hipMemAttachGlobal == 1);
CHECK(hipStreamWaitValueGte == 0 && hipStreamWaitValueNor == 3);
CHECK(hipStreamCaptureModeRelaxed == 2 && hipStreamCaptureStatusInvalidated == 2);
CHECK(sizeof(dim3) == 12 && sizeof(hipUUID) == 16);
CHECK(sizeof(hipAmdFileHandle_t) == 8);
CHECK(HIP_VERSION >= 70000000 && HIP_VERSION < 80000000);

int hip_header_c_answer(void) {
  hipDeviceProp_tR0600 *old_and_new_name = (hipDeviceProp_t *)0;
  return old_and_new_name == 0 && hipGetErrorName(hipSuccess) != 0;
}
