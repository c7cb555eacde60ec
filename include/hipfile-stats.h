/* SPDX-License-Identifier: MIT */
/**
 * @file hipfile-stats.h
 * Looking at the statistics of another process. For ais-stats and its like; not installed.
 *
 * The counters of a process lie in a memory file among its descriptors. The kernel lets its own
 * user and root look, and nobody else. docs/stats-layout.md describes the file.
 */
#ifndef HIPFILE_STATS_H
#define HIPFILE_STATS_H

#include <hipfile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hipFileStatsError {
  hipFileStatsSuccess = 0,
  hipFileStatsInvalidArgument = 1,
  hipFileStatsTargetProcessNotFound = 2,
  hipFileStatsTargetProcessNotAccessible = 3, /**< another user's, or it counts nothing (yet) */
  hipFileStatsReportGenerationFailed = 4
} hipFileStatsError_t;

typedef struct hipFileStatsContext hipFileStatsContext_t;

/** A context for a process. Looks at nothing yet. */
HIPFILE_API hipFileStatsError_t hipFileStatsCreateContext(hipFileStatsContext_t **context,
                                                          int targetPid);

/** NULL is ignored. */
HIPFILE_API void hipFileStatsCloseContext(hipFileStatsContext_t *context);

/** Map the counters of the process. They stay readable when it has ended. Tries once. */
HIPFILE_API hipFileStatsError_t
hipFileStatsConnectToTargetProcess(hipFileStatsContext_t *context);

/**
 * Whether the process has ended.
 * @param block wait until it has
 * @return hipFileStatsSuccess: it runs, or (always when `block` is set) it has ended;
 *         hipFileStatsInvalidArgument: not connected
 */
HIPFILE_API hipFileStatsError_t hipFileStatsPollTargetProcess(const hipFileStatsContext_t *context,
                                                              bool block);

/** Write the report of ais-stats to a descriptor: the counters as they are now. */
HIPFILE_API hipFileStatsError_t hipFileStatsGenerateReport(const hipFileStatsContext_t *context,
                                                           int fd);

#ifdef __cplusplus
}
#endif

#endif /* HIPFILE_STATS_H */
