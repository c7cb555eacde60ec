/* SPDX-License-Identifier: MIT */
/* Names that a runtime must have and that the loader's tests never look behind: each succeeds. */
#define SUCCEEDS(name) \
  int name(void);      \
  int name(void) { return 0; }

SUCCEEDS(hipInit)
SUCCEEDS(hipGetDevice)
SUCCEEDS(hipSetDevice)
SUCCEEDS(hipDeviceGetName)
SUCCEEDS(hipDeviceSynchronize)
SUCCEEDS(hipDeviceGetStreamPriorityRange)
SUCCEEDS(hipFree)
SUCCEEDS(hipHostMalloc)
SUCCEEDS(hipHostFree)
SUCCEEDS(hipHostRegister)
SUCCEEDS(hipHostUnregister)
SUCCEEDS(hipMemcpy)
SUCCEEDS(hipMemset)
SUCCEEDS(hipMemsetAsync)
SUCCEEDS(hipMemGetInfo)
SUCCEEDS(hipStreamCreateWithFlags)
SUCCEEDS(hipStreamDestroy)
SUCCEEDS(hipStreamSynchronize)
SUCCEEDS(hipStreamQuery)
SUCCEEDS(hipStreamWaitEvent)
SUCCEEDS(hipEventCreateWithFlags)
SUCCEEDS(hipEventRecord)
SUCCEEDS(hipEventQuery)
SUCCEEDS(hipEventSynchronize)
SUCCEEDS(hipEventDestroy)
SUCCEEDS(hipGetErrorString)
SUCCEEDS(hipGetLastError)
SUCCEEDS(hipPeekAtLastError)
#ifdef FAKE_IS_SPLIT /* one name is missing */
#define hipMemcpyAsync hipMemcpyAsyncUnused
#endif
SUCCEEDS(hipMemcpyAsync)
