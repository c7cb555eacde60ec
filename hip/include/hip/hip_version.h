/* SPDX-License-Identifier: MIT */
/**
 * @file hip_version.h
 * The HIP version that these headers describe. hipRuntimeGetVersion() reports HIP_VERSION.
 */
#ifndef HIP_INCLUDE_HIP_HIP_VERSION_H
#define HIP_INCLUDE_HIP_HIP_VERSION_H

#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 1
#define HIP_VERSION_PATCH 0
#define HIP_VERSION_GITHASH "portable"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION_BUILD_NAME "portable"

/** major * 10^7 + minor * 10^5 + patch */
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

/** Set only by these headers: the runtime behind them is the portable one. */
#define HIP_VERSION_PORTABLE 1

#endif
