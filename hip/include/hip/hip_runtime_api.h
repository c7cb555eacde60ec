/* SPDX-License-Identifier: MIT */
/**
 * @file hip_runtime_api.h
 * The part of HIP that the portable runtime offers, with the names, values and layouts of HIP 6/7:
 * a program compiled with this header runs with AMD's runtime and the other way round. C (gnu99 and
 * later) and C++17/20; `-D__HIP_PLATFORM_AMD__` is accepted and not needed.
 *
 * Conventions that hold for every function unless its text says otherwise:
 *  - Sizes are in bytes. Every function may be called from any thread.
 *  - hipErrorInvalidValue answers a NULL or impossible argument, hipErrorInvalidDevice an ordinal
 *    that names no device, hipErrorInvalidHandle an unknown stream or event, hipErrorNoDevice a
 *    machine without a device, hipErrorDeinitialized a call after exit() has begun.
 *  - "The current device" is the calling thread's, set by hipSetDevice(), at first 0.
 *  - A stream of 0 is the null stream of the current device. It waits for, and is waited for by,
 *    all streams that were not created with hipStreamNonBlocking.
 *  - A call may report an error of work queued earlier.
 */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <hip/hip_version.h>
#include <hip/hip_common.h>
#include <hip/portable/errors.h>
#include <hip/portable/device_types.h>
#include <hip/driver_types.h>

/* ---- Handles -------------------------------------------------------------------------------- */

typedef int hipDevice_t; /**< equal to the ordinal */
typedef struct ihipCtx_t *hipCtx_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipMemPoolHandle_t *hipMemPool_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct hipGraphExec *hipGraphExec_t;

/* ---- Constants ------------------------------------------------------------------------------ */

#define hipCpuDeviceId ((int)-1)
#define hipInvalidDeviceId ((int)-2)

/* Handles with a fixed meaning. */
#define hipStreamLegacy ((hipStream_t)1)    /**< the null stream by name */
#define hipStreamPerThread ((hipStream_t)2) /**< a stream of the calling thread's own */

/* hipStreamCreateWithFlags */
#define hipStreamDefault 0x00
#define hipStreamNonBlocking 0x01 /**< no implicit order with the null stream */

/* hipEventCreateWithFlags */
#define hipEventDefault 0x0
#define hipEventBlockingSync 0x1
#define hipEventDisableTiming 0x2
#define hipEventInterprocess 0x4
#define hipEventDisableSystemFence 0x20000000
#define hipEventReleaseToDevice 0x40000000
#define hipEventReleaseToSystem 0x80000000

/* hipEventRecordWithFlags, hipStreamWaitEvent */
#define hipEventRecordDefault 0x00
#define hipEventRecordExternal 0x01
#define hipEventWaitDefault 0x00
#define hipEventWaitExternal 0x01

/* hipHostMalloc, hipHostAlloc */
#define hipHostAllocDefault 0x0
#define hipHostAllocPortable 0x1
#define hipHostAllocMapped 0x2
#define hipHostAllocWriteCombined 0x4
#define hipHostAllocUncached hipHostMallocUncached
#define hipHostMallocDefault 0x0
#define hipHostMallocPortable 0x1
#define hipHostMallocMapped 0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocUncached 0x10000000
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000

/* hipMallocManaged */
#define hipMemAttachGlobal 0x01
#define hipMemAttachHost 0x02
#define hipMemAttachSingle 0x04

/* hipExtMallocWithFlags */
#define hipDeviceMallocDefault 0x0
#define hipDeviceMallocFinegrained 0x1
#define hipMallocSignalMemory 0x2 /**< 8 bytes for hipStreamWaitValue32/64 */
#define hipDeviceMallocUncached 0x3
#define hipDeviceMallocContiguous 0x4

/* hipHostRegister */
#define hipHostRegisterDefault 0x0
#define hipHostRegisterPortable 0x1
#define hipHostRegisterMapped 0x2
#define hipHostRegisterIoMemory 0x4
#define hipHostRegisterReadOnly 0x08
#define hipExtHostRegisterCoarseGrained 0x8
#define hipExtHostRegisterUncached 0x80000000

/* hipSetDeviceFlags, hipCtxCreate */
#define hipDeviceScheduleAuto 0x0
#define hipDeviceScheduleSpin 0x1
#define hipDeviceScheduleYield 0x2
#define hipDeviceScheduleBlockingSync 0x4
#define hipDeviceScheduleMask 0x7
#define hipDeviceMapHost 0x8
#define hipDeviceLmemResizeToMax 0x10

/* hipStreamWaitValue32/64, hipStreamWriteValue32/64 */
#define hipStreamWaitValueGte 0x0
#define hipStreamWaitValueEq 0x1
#define hipStreamWaitValueAnd 0x2
#define hipStreamWaitValueNor 0x3
#define hipStreamWriteValueDefault 0x0

/* hipModuleLaunchKernel: keys of `extra` */
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

/* hipGetProcAddress */
#define HIP_GET_PROC_ADDRESS_DEFAULT 0x0
#define HIP_GET_PROC_ADDRESS_LEGACY_STREAM 0x1
#define HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM 0x2

typedef enum hipDriverProcAddressQueryResult {
  HIP_GET_PROC_ADDRESS_SUCCESS = 0,
  HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} hipDriverProcAddressQueryResult;

enum hipComputeMode {
  hipComputeModeDefault = 0,
  hipComputeModeExclusive = 1,
  hipComputeModeProhibited = 2,
  hipComputeModeExclusiveProcess = 3
};

/** What a capture forbids: for all threads, for the capturing thread, nothing. */
typedef enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal,
  hipStreamCaptureModeRelaxed
} hipStreamCaptureMode;

typedef enum hipStreamCaptureStatus {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive,
  hipStreamCaptureStatusInvalidated
} hipStreamCaptureStatus;

/* ---- Launches and callbacks ----------------------------------------------------------------- */

/** Grid or block size. */
typedef struct dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
#ifdef __cplusplus
  constexpr dim3(uint32_t nx = 1, uint32_t ny = 1, uint32_t nz = 1) : x(nx), y(ny), z(nz) {}
#endif
} dim3;

/** Runs on a thread of the runtime; must not call HIP. */
typedef void (*hipHostFn_t)(void *userData);
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);

#ifdef __cplusplus
#define HIP_PORTABLE_DEFAULT(value) = value
extern "C" {
#else
#define HIP_PORTABLE_DEFAULT(value)
#endif
#pragma GCC visibility push(default)

/* ---- Start, devices ------------------------------------------------------------------------- */

/** Starts the runtime. Every other call does so as well. @param flags must be 0 */
hipError_t hipInit(unsigned int flags);
/** @param runtimeVersion  HIP_VERSION of the runtime. Starts nothing. */
hipError_t hipRuntimeGetVersion(int *runtimeVersion);
/** @param driverVersion  as hipRuntimeGetVersion() on AMD's and emulated devices, else CUDA's */
hipError_t hipDriverGetVersion(int *driverVersion);

/** Makes a device current for the calling thread. */
hipError_t hipSetDevice(int deviceId);
hipError_t hipGetDevice(int *deviceId);
/** @return hipErrorNoDevice, with a count of 0, where there is none */
hipError_t hipGetDeviceCount(int *count);
/** Waits for all work of the current device and reports its first error. */
hipError_t hipDeviceSynchronize(void);
/** Waits, then frees all streams, events and memory of the current device. */
hipError_t hipDeviceReset(void);
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal);
/** @param pi  the value; hipErrorInvalidValue for an attribute that is unknown */
hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId);
/** @param len  size of `name`; the text is cut to fit and always ends with a 0 */
hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device);
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device);
/** @param pciBusId  "dddd:bb:dd.f"; needs 13 bytes */
hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device);
/** Called as hipGetDeviceProperties(). The symbol of that name exists too and is the same. */
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int deviceId);
hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId);
/** Smaller numbers are more urgent: the greatest priority is the lowest number. */
hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
/** Makes the device current; a context of its own is not made. */
hipError_t hipCtxCreate(hipCtx_t *ctx, unsigned int flags, hipDevice_t device);
hipError_t hipCtxDestroy(hipCtx_t ctx);

/* ---- Errors --------------------------------------------------------------------------------- */

/** @return the calling thread's last error, which is then hipSuccess again */
hipError_t hipGetLastError(void);
/** @return the calling thread's last error, which stays */
hipError_t hipPeekAtLastError(void);
/** @return the enumerator's name; never NULL */
const char *hipGetErrorName(hipError_t hip_error);
/** @return a sentence; never NULL */
const char *hipGetErrorString(hipError_t hipError);
/** As hipGetErrorName(); hipErrorInvalidValue for a code that does not exist. */
hipError_t hipDrvGetErrorName(hipError_t hipError, const char **errorString);
hipError_t hipDrvGetErrorString(hipError_t hipError, const char **errorString);

/* ---- Device memory -------------------------------------------------------------------------- */

/** Allocates on the current device, 256-byte aligned. A size of 0 gives NULL and hipSuccess.
 *  @return hipErrorOutOfMemory */
hipError_t hipMalloc(void **ptr, size_t size);
/** Waits for the device, then frees memory of hipMalloc, hipMallocManaged, hipMallocAsync or
 *  hipExtMallocWithFlags. NULL is allowed. @return hipErrorInvalidValue for any other pointer */
hipError_t hipFree(void *ptr);
/** @param flags  hipDeviceMalloc..., hipMallocSignalMemory (size must be 8) */
hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags);
/** Memory that host and device reach under one address. */
hipError_t hipMallocManaged(void **dev_ptr, size_t size,
                            unsigned int flags HIP_PORTABLE_DEFAULT(hipMemAttachGlobal));
/** Allocates in stream order. */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);
/** Frees when the stream gets there. */
hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream);
/** @param free, total  bytes of the current device */
hipError_t hipMemGetInfo(size_t *free, size_t *total);
/** What a pointer is. Plain host memory is hipSuccess with hipMemoryTypeUnregistered. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr);
/** The allocation that holds an address. @return hipErrorNotFound if there is none */
hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr);

/* ---- Pinned host memory --------------------------------------------------------------------- */

/** @param flags  hipHostMalloc... */
hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipHostAlloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipExtHostAlloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipMallocHost(void **ptr, size_t size);
/** Waits for the device, then frees. NULL is allowed. */
hipError_t hipHostFree(void *ptr);
hipError_t hipFreeHost(void *ptr);
/** Pins memory of the program. @return hipErrorHostMemoryAlreadyRegistered on any overlap */
hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags);
/** @return hipErrorHostMemoryNotRegistered unless it is the start of a registered range */
hipError_t hipHostUnregister(void *hostPtr);
/** The device's address of pinned memory. @param flags must be 0 */
hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags);
/** The flags that pinned memory was allocated with. */
hipError_t hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr);

/* ---- Copies --------------------------------------------------------------------------------- */

/** Copies in order of the null stream and returns when the bytes have arrived.
 *  @return hipErrorInvalidMemcpyDirection for a kind that does not exist */
hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);
/** Copies in stream order. Plain host memory may be staged before the call returns. */
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                          hipStream_t stream HIP_PORTABLE_DEFAULT(0));
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t sizeBytes);
hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t sizeBytes,
                              hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId,
                         size_t sizeBytes);
/** @param value  its low byte is written sizeBytes times */
hipError_t hipMemset(void *dst, int value, size_t sizeBytes);
hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes,
                          hipStream_t stream HIP_PORTABLE_DEFAULT(0));
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count);

/* ---- Streams -------------------------------------------------------------------------------- */

hipError_t hipStreamCreate(hipStream_t *stream);
/** @param flags  hipStreamDefault or hipStreamNonBlocking */
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);
/** @param priority  clamped to hipDeviceGetStreamPriorityRange() */
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority);
/** Returns at once where work is queued; the stream ends when that is done. */
hipError_t hipStreamDestroy(hipStream_t stream);
/** @return hipErrorNotReady while work is queued or runs */
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
/** Work queued later waits for what the event's last record covers. @param flags must be 0 */
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                              unsigned int flags HIP_PORTABLE_DEFAULT(0));
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int *flags);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
/** Later work waits until `(*ptr & mask)` meets `value` as flags say (hipStreamWaitValue...).
 *  @param mask  all ones on NVIDIA, else hipErrorNotSupported */
hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
                                uint32_t mask HIP_PORTABLE_DEFAULT(0xFFFFFFFF));
hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
                                uint64_t mask HIP_PORTABLE_DEFAULT(0xFFFFFFFFFFFFFFFF));
/** Writes in stream order, after all earlier work is visible. @param flags must be 0 */
hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value,
                                 unsigned int flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value,
                                 unsigned int flags);
/** Calls fn in stream order on a thread of the runtime. */
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData);
/** As hipLaunchHostFunc(), also after an error of the stream. @param flags must be 0 */
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
                                unsigned int flags);

/* ---- Events --------------------------------------------------------------------------------- */

hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_PORTABLE_DEFAULT(NULL));
/** @return hipErrorNotReady before the record is reached; hipSuccess if never recorded */
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);
/** @param ms  milliseconds between two recorded events. @return hipErrorNotReady,
 *  hipErrorInvalidHandle if one has no timing or was not recorded */
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);

/* ---- Code ----------------------------------------------------------------------------------- */

/** Looks a function up by name, also one that no header declares (hipAmdFileRead).
 *  @param hipVersion    HIP_VERSION that the caller knows
 *  @param symbolStatus  may be NULL. @return hipErrorInvalidValue or hipErrorNotFound, pfn NULL */
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult *symbolStatus);
/** @param image  of NVIDIA's device: PTX, ended by a zero, cubin or a fat binary.
 *  @return hipErrorNoBinaryForGpu on the emulated device; else what the driver says of the image */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
/** Waits for what runs of it. Handles of its kernels are no longer valid. */
hipError_t hipModuleUnload(hipModule_t module);
/** @return hipErrorNotFound */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname);
/** @return hipErrorInvalidDeviceFunction for a handle that is none, hipErrorInvalidHandle where the
 *  stream is of another device, hipErrorStreamCaptureUnsupported where it captures */
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                 unsigned int gridDimZ, unsigned int blockDimX,
                                 unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, hipStream_t stream,
                                 void **kernelParams, void **extra);
/** @return hipErrorInvalidDeviceFunction: no compiler registers its kernels with this runtime */
hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                           void **args, size_t sharedMemBytes HIP_PORTABLE_DEFAULT(0),
                           hipStream_t stream HIP_PORTABLE_DEFAULT(0));

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

#include <hip/portable/capture.h>
#include <hip/portable/virtual_memory.h>
#ifdef __cplusplus
#include <hip/portable/typed_forms.h>
#endif

#endif
