/* SPDX-License-Identifier: MIT */
/**
 * @file typed_forms.h
 * Allocation into typed pointers, for C++: `float *p; hipMalloc(&p, n)` compiles without a cast.
 * Included by hip_runtime_api.h behind its declarations.
 */
#ifndef HIP_INCLUDE_HIP_PORTABLE_TYPED_FORMS_H
#define HIP_INCLUDE_HIP_PORTABLE_TYPED_FORMS_H

template <class T>
static inline hipError_t hipMalloc(T **ptr, size_t size) {
  return hipMalloc(reinterpret_cast<void **>(ptr), size);
}
template <class T>
static inline hipError_t hipMallocManaged(T **ptr, size_t size,
                                          unsigned int flags = hipMemAttachGlobal) {
  return hipMallocManaged(reinterpret_cast<void **>(ptr), size, flags);
}
template <class T>
static inline hipError_t hipMallocAsync(T **ptr, size_t size, hipStream_t stream) {
  return hipMallocAsync(reinterpret_cast<void **>(ptr), size, stream);
}
template <class T>
static inline hipError_t hipHostMalloc(T **ptr, size_t size,
                                       unsigned int flags = hipHostMallocDefault) {
  return hipHostMalloc(reinterpret_cast<void **>(ptr), size, flags);
}
template <class T>
static inline hipError_t hipHostAlloc(T **ptr, size_t size,
                                      unsigned int flags = hipHostAllocDefault) {
  return hipHostAlloc(reinterpret_cast<void **>(ptr), size, flags);
}
template <class T>
static inline hipError_t hipMallocHost(T **ptr, size_t size) {
  return hipMallocHost(reinterpret_cast<void **>(ptr), size);
}

#endif
