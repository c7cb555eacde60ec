/* SPDX-License-Identifier: MIT */
/**
 * @file driver_types.h
 * Memory as HIP names it: kinds of memory and of copies, what a pointer is, and the types of the
 * virtual memory calls. Values and layouts are those of HIP 6/7.
 */
#ifndef HIP_INCLUDE_HIP_DRIVER_TYPES_H
#define HIP_INCLUDE_HIP_DRIVER_TYPES_H

#include <hip/hip_common.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device address, as the calls that come from the driver interface take it. */
typedef void *hipDeviceptr_t;

/** Direction of a copy. hipMemcpyDefault derives it from the two pointers. */
typedef enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
  hipMemcpyDeviceToDeviceNoCU = 1024
} hipMemcpyKind;

/** Where a pointer points to. */
typedef enum hipMemoryType {
  hipMemoryTypeUnregistered = 0, /**< plain host memory, unknown to the runtime */
  hipMemoryTypeHost = 1,         /**< pinned host memory */
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
  hipMemoryTypeArray = 10,
  hipMemoryTypeUnified = 11
} hipMemoryType;

/** Answer of hipPointerGetAttributes(). */
typedef struct hipPointerAttribute_t {
  enum hipMemoryType type;
  int device;               /**< ordinal of the owning device; -2 for unregistered memory */
  void *devicePointer;      /**< address for the device, or NULL */
  void *hostPointer;        /**< address for the host, or NULL */
  int isManaged;            /**< 1 for managed memory */
  unsigned allocationFlags; /**< flags given when it was allocated or registered */
} hipPointerAttribute_t;

/* ---- Virtual memory ------------------------------------------------------------------------- */

typedef enum hipMemLocationType {
  hipMemLocationTypeInvalid = 0,
  hipMemLocationTypeNone = 0,
  hipMemLocationTypeDevice = 1,
  hipMemLocationTypeHost = 2,
  hipMemLocationTypeHostNuma = 3,
  hipMemLocationTypeHostNumaCurrent = 4
} hipMemLocationType;

/** A device (id is its ordinal) or host memory. */
typedef struct hipMemLocation {
  hipMemLocationType type;
  int id;
} hipMemLocation;

typedef enum hipMemAccessFlags {
  hipMemAccessFlagsProtNone = 0,
  hipMemAccessFlagsProtRead = 1,
  hipMemAccessFlagsProtReadWrite = 3
} hipMemAccessFlags;

/** Who may access a mapped range, and how. */
typedef struct hipMemAccessDesc {
  hipMemLocation location;
  hipMemAccessFlags flags;
} hipMemAccessDesc;

typedef enum hipMemAllocationType {
  hipMemAllocationTypeInvalid = 0x0,
  hipMemAllocationTypePinned = 0x1,
  hipMemAllocationTypeManaged = 0x2,
  hipMemAllocationTypeUncached = 0x40000000,
  hipMemAllocationTypeMax = 0x7FFFFFFF
} hipMemAllocationType;

typedef enum hipMemAllocationHandleType {
  hipMemHandleTypeNone = 0x0,
  hipMemHandleTypePosixFileDescriptor = 0x1,
  hipMemHandleTypeWin32 = 0x2,
  hipMemHandleTypeWin32Kmt = 0x4,
  hipMemHandleTypeFabric = 0x8
} hipMemAllocationHandleType;

/** What hipMemCreate() shall allocate. */
typedef struct hipMemAllocationProp {
  hipMemAllocationType type;
  __extension__ union {
    hipMemAllocationHandleType requestedHandleType;
    hipMemAllocationHandleType requestedHandleTypes;
  };
  hipMemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
} hipMemAllocationProp;

typedef struct ihipMemGenericAllocationHandle *hipMemGenericAllocationHandle_t;

typedef enum hipMemAllocationGranularity_flags {
  hipMemAllocationGranularityMinimum = 0x0,
  hipMemAllocationGranularityRecommended = 0x1
} hipMemAllocationGranularity_flags;

#ifdef __cplusplus
}
#endif

#endif
