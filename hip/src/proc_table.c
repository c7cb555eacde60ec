/* SPDX-License-Identifier: MIT */
/*
 * In C, because there the typed forms that the header adds for C++ do not overload the functions. A
 * table, because a search by the loader would find those of another runtime in the process.
 */
#include "proc_table.h"

#include "api_file.h"

#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0600 *prop, int deviceId);

#define HIP_PORTABLE_FUNCTIONS(X) \
  X(hipAmdFileRead) X(hipAmdFileWrite) X(hipCtxCreate) X(hipCtxDestroy) \
  X(hipDeviceCanAccessPeer) X(hipDeviceGet) X(hipDeviceGetAttribute) X(hipDeviceGetName) \
  X(hipDeviceGetPCIBusId) X(hipDeviceGetStreamPriorityRange) X(hipDeviceGetUuid) \
  X(hipDeviceReset) X(hipDeviceSynchronize) X(hipDriverGetVersion) X(hipDrvGetErrorName) \
  X(hipDrvGetErrorString) X(hipEventCreate) X(hipEventCreateWithFlags) X(hipEventDestroy) \
  X(hipEventElapsedTime) X(hipEventQuery) X(hipEventRecord) X(hipEventSynchronize) \
  X(hipExtHostAlloc) X(hipExtMallocWithFlags) X(hipFree) X(hipFreeAsync) X(hipFreeHost) \
  X(hipGetDevice) X(hipGetDeviceCount) X(hipGetDeviceProperties) \
  X(hipGetDevicePropertiesR0600) X(hipGetErrorName) X(hipGetErrorString) X(hipGetLastError) \
  X(hipGetProcAddress) X(hipGraphDestroy) X(hipGraphExecDestroy) \
  X(hipGraphInstantiate) X(hipGraphLaunch) X(hipHostAlloc) X(hipHostFree) \
  X(hipHostGetDevicePointer) X(hipHostGetFlags) X(hipHostMalloc) X(hipHostRegister) \
  X(hipHostUnregister) X(hipInit) X(hipLaunchHostFunc) X(hipLaunchKernel) X(hipMalloc) \
  X(hipMallocAsync) X(hipMallocHost) X(hipMallocManaged) X(hipMemAddressFree) \
  X(hipMemAddressReserve) X(hipMemCreate) X(hipMemGetAccess) X(hipMemGetAddressRange) \
  X(hipMemGetAllocationGranularity) X(hipMemGetAllocationPropertiesFromHandle) \
  X(hipMemGetInfo) X(hipMemMap) X(hipMemRelease) X(hipMemRetainAllocationHandle) \
  X(hipMemSetAccess) X(hipMemUnmap) X(hipMemcpy) X(hipMemcpyAsync) X(hipMemcpyDtoH) \
  X(hipMemcpyDtoHAsync) X(hipMemcpyHtoD) X(hipMemcpyHtoDAsync) X(hipMemcpyPeer) X(hipMemset) \
  X(hipMemsetAsync) X(hipMemsetD8) X(hipModuleGetFunction) X(hipModuleLaunchKernel) \
  X(hipModuleLoadData) X(hipModuleUnload) X(hipPeekAtLastError) X(hipPointerGetAttributes) \
  X(hipPortableDeviceIsEmulated) X(hipPortableFileRead) X(hipPortableIndirectCopyStatus) \
  X(hipPortableMarker) X(hipPortableMemcpyIndirectAsync) X(hipPortablePassedOver) \
  X(hipPortableSetLastError) \
  X(hipRuntimeGetVersion) X(hipSetDevice) X(hipStreamAddCallback) X(hipStreamBeginCapture) \
  X(hipStreamCreate) X(hipStreamCreateWithFlags) X(hipStreamCreateWithPriority) \
  X(hipStreamDestroy) X(hipStreamEndCapture) X(hipStreamGetCaptureInfo) X(hipStreamGetDevice) \
  X(hipStreamGetFlags) X(hipStreamIsCapturing) X(hipStreamQuery) X(hipStreamSynchronize) \
  X(hipStreamWaitEvent) X(hipStreamWaitValue32) X(hipStreamWaitValue64) \
  X(hipStreamWriteValue32) X(hipStreamWriteValue64) X(hipThreadExchangeStreamCaptureMode)

#define HIP_PORTABLE_ENTRY(name) {#name, (void (*)(void))name},

const HipPortableFunction hip_portable_functions[] = {HIP_PORTABLE_FUNCTIONS(HIP_PORTABLE_ENTRY)};

const size_t hip_portable_function_count =
    sizeof(hip_portable_functions) / sizeof(hip_portable_functions[0]);
