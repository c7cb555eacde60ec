/* SPDX-License-Identifier: MIT */
/**
 * @file hip_common.h
 * Which platform a program is compiled for. The portable runtime follows AMD's values and layouts,
 * so that platform is taken when the program names none.
 */
#ifndef HIP_INCLUDE_HIP_HIP_COMMON_H
#define HIP_INCLUDE_HIP_HIP_COMMON_H

#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#define __HIP_PLATFORM_AMD__ 1
#endif

/* Headers of AMD's libraries test this spelling. */
#if defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_HCC__)
#define __HIP_PLATFORM_HCC__ 1
#endif

#endif
