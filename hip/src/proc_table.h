/* SPDX-License-Identifier: MIT */
/*
 * The runtime's functions by name, sorted as strcmp does.
 */
#ifndef HIP_PORTABLE_PROC_TABLE_H
#define HIP_PORTABLE_PROC_TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HipPortableFunction {
  const char *name;
  void (*address)(void);
} HipPortableFunction;

extern const HipPortableFunction hip_portable_functions[];
extern const size_t hip_portable_function_count;

#ifdef __cplusplus
}
#endif

#endif
