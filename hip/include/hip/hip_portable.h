/* SPDX-License-Identifier: MIT */
/**
 * @file hip_portable.h
 * What the portable runtime has beyond HIP, and the two file calls of AMD's runtime that stand in
 * no header of HIP. A program finds all of them by dlsym or hipGetProcAddress(): a runtime without
 * them is another one.
 */
#ifndef HIP_INCLUDE_HIP_HIP_PORTABLE_H
#define HIP_INCLUDE_HIP_HIP_PORTABLE_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * The symbol that tells this runtime from another of the same file name.
 * @return "hip_portable" and the version, separated by one space; never NULL, never freed.
 */
const char *hipPortableMarker(void);

/**
 * Sets the calling thread's last error, which hipGetLastError() reports. A library that called HIP
 * on a thread of the program puts back what it found there.
 * @return the error that was set before
 */
hipError_t hipPortableSetLastError(hipError_t error);

/** @return 1 if the device is emulated in host memory, 0 if it is hardware, -1 if there is none */
int hipPortableDeviceIsEmulated(int device);

/**
 * Why the emulated device stands where HIP_PORTABLE_BACKEND=auto would have had NVIDIA's.
 * @return the error of NVIDIA's driver, hipErrorNoDevice if there is none; hipSuccess if it is in
 *         use or was not asked
 */
hipError_t hipPortablePassedOver(void);

/**
 * A late-bound copy: what hipPortableMemcpyIndirectAsync() reads when the stream gets there. Eight
 * bytes a field on every machine, so that host and device see one layout.
 */
typedef struct hipPortableIndirectCopy_t {
  void *destination;   /**< looked at if size is not 0 */
  const void *source;  /**< the same; the two ranges may overlap */
  uint64_t size;       /**< bytes; 0 copies nothing */
  uint64_t *flag;      /**< where flag_value is stored when the bytes have arrived, or NULL */
  uint64_t flag_value; /**< stored with release order: who reads it sees the bytes */
} hipPortableIndirectCopy_t;

/**
 * Queues a copy whose operands are not known yet. Whatever is queued before it, or a host thread
 * that work before it waits for (hipStreamWaitValue64()), fills the descriptor in; it is read once,
 * and may be changed again when the copy is done.
 *
 * Source, destination and flag are device, managed, pinned or registered memory, each range inside
 * one allocation. A descriptor that says otherwise copies nothing and stores no flag: it is an
 * error of the stream, hipErrorIllegalAddress, which hipStreamQuery(), hipStreamSynchronize() and
 * hipDeviceSynchronize() report from then on, as long as the stream lives. Work behind it runs. On
 * hardware nothing but the device itself looks at the operands: what it cannot reach ends all work
 * of the process on it with that error, and what it can reach is copied.
 *
 * hipGetProcAddress() finds this function where the device has it.
 * @param descriptor  aligned to 8, in pinned, registered or managed memory
 * @return hipErrorInvalidHandle, hipErrorInvalidValue for a descriptor that lies elsewhere,
 *         hipErrorNotSupported with HIP_PORTABLE_WITHOUT=indirect-copy; hipErrorNoBinaryForGpu
 *         where NVIDIA's driver may not translate PTX
 */
hipError_t hipPortableMemcpyIndirectAsync(hipStream_t stream,
                                          const hipPortableIndirectCopy_t *descriptor);

/**
 * Whether the streams of a device take late-bound copies.
 * @return hipSuccess, or what hipPortableMemcpyIndirectAsync() would answer there, so that a
 *         program need not queue one to learn it; hipErrorInvalidDevice
 */
hipError_t hipPortableIndirectCopyStatus(int device);

/** A file: its descriptor, which must be open with O_DIRECT. Bytes behind fd are zero. */
typedef union hipAmdFileHandle_t {
  void *handle;
  int fd;
  uint8_t pad[8];
} hipAmdFileHandle_t;

/**
 * "hipAmdFileRead" and "hipAmdFileWrite" of hipGetProcAddress(): move `size` bytes straight between
 * a file and the memory of the calling thread's current device. Synchronous.
 * @param size, file_offset  bytes, multiples of 4096; size at most 0x7ffff000
 * @param size_copied        bytes moved
 * @param status             0 or an errno of either sign; looked at before the returned error
 */
typedef hipError_t (*hipAmdFileRead_t)(hipAmdFileHandle_t handle, void *device_ptr, uint64_t size,
                                       int64_t file_offset, uint64_t *size_copied,
                                       int32_t *status);
typedef hipError_t (*hipAmdFileWrite_t)(hipAmdFileHandle_t handle, void *device_ptr, uint64_t size,
                                        int64_t file_offset, uint64_t *size_copied,
                                        int32_t *status);

/**
 * Reads a file into the memory of the calling thread's current device, at memory's speed what lies
 * in the page cache: hipAmdFileRead() without its rules, for whatever read(2) takes. Synchronous.
 *
 * hipGetProcAddress() finds this function where the device is emulated and HIP_PORTABLE_DIRECT is
 * not "kernel".
 * @param fd           a file that can be read at an offset, with O_DIRECT or without
 * @param size         bytes, at most 0x7ffff000
 * @param size_copied  bytes moved; fewer than `size` at the end of the file
 * @param status       0 or an errno
 * @return hipErrorInvalidValue for NULL results, hipErrorNotSupported on hardware
 */
hipError_t hipPortableFileRead(int fd, void *device_ptr, uint64_t size, int64_t file_offset,
                               uint64_t *size_copied, int32_t *status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
