/* SPDX-License-Identifier: MIT */
/*
 * The two file calls of AMD's runtime. No header of HIP declares them; their types are in
 * hip_portable.h.
 */
#ifndef HIP_PORTABLE_API_FILE_H
#define HIP_PORTABLE_API_FILE_H

#include <hip/hip_portable.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

hipError_t hipAmdFileRead(hipAmdFileHandle_t handle, void *device_ptr, uint64_t size,
                          int64_t file_offset, uint64_t *size_copied, int32_t *status);
hipError_t hipAmdFileWrite(hipAmdFileHandle_t handle, void *device_ptr, uint64_t size,
                           int64_t file_offset, uint64_t *size_copied, int32_t *status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
