/* SPDX-License-Identifier: MIT */
/**
 * @file virtual_memory.h
 * The virtual memory calls of hip_runtime_api.h. A location that names no device is
 * hipErrorInvalidValue. On NVIDIA handles are those that these calls gave.
 */
#ifndef HIP_INCLUDE_HIP_PORTABLE_VIRTUAL_MEMORY_H
#define HIP_INCLUDE_HIP_PORTABLE_VIRTUAL_MEMORY_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Reserves addresses.
 *  @param size       a multiple of the granularity
 *  @param alignment  a power of two, or 0
 *  @param addr       a wish, or NULL
 *  @param flags      must be 0. @return hipErrorOutOfMemory */
hipError_t hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr,
                                unsigned long long flags);
/** Frees a whole reservation. @return hipErrorInvalidValue while anything is mapped in it */
hipError_t hipMemAddressFree(void *devPtr, size_t size);
/** @param granularity  what addresses and sizes of these calls are multiples of: 2 MiB */
hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
                                          hipMemAllocationGranularity_flags option);
/** Allocates memory without an address.
 *  @param prop   pinned memory of a device, without a shareable handle; other kinds of memory give
 *                hipErrorNotSupported
 *  @param flags  must be 0. @return hipErrorOutOfMemory */
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
                        const hipMemAllocationProp *prop, unsigned long long flags);
/** The memory is freed when the last mapping is gone. */
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
/** The handle of the memory that is mapped at an address, to be released once more. */
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr);
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                                   hipMemGenericAllocationHandle_t handle);
/** Puts the first `size` bytes of memory at reserved addresses where nothing is mapped; no device
 *  has access before hipMemSetAccess(). Mappings that follow each other are one allocation to
 *  copies, file transfers and hipMemGetAddressRange().
 *  @param offset, flags  must be 0 */
hipError_t hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags);
/** Waits for all devices, then unmaps one or several whole mappings. */
hipError_t hipMemUnmap(void *ptr, size_t size);
/** Says which devices may use one or several whole mappings. Work of a device without access to
 *  its memory is refused with hipErrorInvalidValue. */
hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count);
/** @param flags  a hipMemAccessFlags */
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
