/* SPDX-License-Identifier: MIT */
/**
 * @file hipfile_ext.h
 * Extensions of this library to hipFile: which path a request takes, and why it takes no other.
 *
 * A program that must also run with AMD's library looks these symbols up with dlsym().
 */
#ifndef HIPFILE_EXT_H
#define HIPFILE_EXT_H

#include <hipfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The data paths, in the order in which a request is offered to them. */
typedef enum hipFileExtBackend {
  hipFileExtBackendNone = 0,     /**< no backend accepts the request */
  hipFileExtBackendFastpath = 1, /**< file <-> device memory by hipAmdFileRead/Write */
  hipFileExtBackendHost = 2,     /**< file <-> host memory by system calls */
  hipFileExtBackendBounce = 3,   /**< file <-> pinned ring <-> device memory */
  hipFileExtBackendCount = 4
} hipFileExtBackend_t;

/** Why a backend does not take a request. */
typedef enum hipFileExtRefusal {
  hipFileExtRefusalNone = 0,             /**< it would take it */
  hipFileExtRefusalRuntimeLacksDirect,   /**< the runtime has no hipAmdFileRead/hipAmdFileWrite */
  hipFileExtRefusalForcedCompat,         /**< HIPFILE_FORCE_COMPAT_MODE */
  hipFileExtRefusalNoDirectView,         /**< the file has no O_DIRECT view (see the file info) */
  hipFileExtRefusalNotDeviceMemory,      /**< the buffer is host or managed memory */
  hipFileExtRefusalFileSystem,           /**< not ext4 with ordered data, xfs or a block device */
  hipFileExtRefusalUnalignedFileOffset,  /**< file offset off the file's offset alignment */
  hipFileExtRefusalUnalignedSize,        /**< size off the file's offset alignment */
  hipFileExtRefusalUnalignedMemory,      /**< address off the file's memory alignment */
  hipFileExtRefusalFailedBefore,         /**< the kernel answered ENODEV for this file before */
  hipFileExtRefusalCompatDisallowed,     /**< HIPFILE_ALLOW_COMPAT_MODE=false */
  hipFileExtRefusalNotHostMemory,        /**< the buffer is device memory */
  hipFileExtRefusalHostDisabled,         /**< HIPFILE_HOST=false */
  hipFileExtRefusalCount
} hipFileExtRefusal_t;

/** Where the bytes of a request really go. */
typedef enum hipFileExtCaching {
  hipFileExtCachingCache = 0,  /**< through the page cache */
  hipFileExtCachingDirect = 1, /**< past the page cache */
  hipFileExtCachingMixed = 2   /**< direct middle, cached edges; or decided by residency */
} hipFileExtCaching_t;

/** Why a file has only one view. */
typedef enum hipFileExtViewReason {
  hipFileExtViewOk = 0,           /**< both views are there (or the second was not needed yet) */
  hipFileExtViewNoProc,           /**< /proc is not mounted */
  hipFileExtViewNoPermission,     /**< EACCES or EPERM when opened again */
  hipFileExtViewNoDescriptors,    /**< EMFILE or ENFILE */
  hipFileExtViewNotSupported,     /**< the file system refuses O_DIRECT */
  hipFileExtViewFileType,         /**< neither a regular file nor a block device */
  hipFileExtViewChanged,          /**< what was opened is another file */
  hipFileExtViewLeased,           /**< a lease stands in the way */
  hipFileExtViewOther             /**< another errno, see hipFileExtFileInfo_t::view_errno */
} hipFileExtViewReason_t;

/** The answer of hipFileExtQueryPath(). */
typedef struct hipFileExtPath {
  hipFileExtBackend_t backend;  /**< the backend that takes the request */
  hipFileExtRefusal_t refusals[hipFileExtBackendCount]; /**< by backend: why not, or None */
  hipFileExtCaching_t caching;  /**< what becomes of the page cache */
  size_t direct_bytes;          /**< bytes of the request that go past the page cache */
} hipFileExtPath_t;

/** The answer of hipFileExtGetFileInfo(). Alignments are 0 where there is no direct view. */
typedef struct hipFileExtFileInfo {
  size_t memory_alignment;         /**< of addresses for direct I/O, bytes */
  size_t offset_alignment;         /**< of file offsets and sizes for direct I/O, bytes */
  size_t write_alignment;          /**< of direct writes: max(offset, file-system block, page) */
  int reads_direct;                /**< 1: direct reads go past the page cache */
  int writes_direct;               /**< 1: direct writes go past the page cache */
  hipFileExtViewReason_t view;     /**< state of the second view */
  int view_errno;                  /**< the errno behind it, or 0 */
} hipFileExtFileInfo_t;

/**
 * Which path a request would take. Opens views as the request would, moves no data.
 * @param opcode hipFileBatchRead or hipFileBatchWrite
 * @param[out] path filled on success
 * @return as hipFileRead() for bad arguments; hipFileInvalidValue stands for -1/EINVAL too.
 */
HIPFILE_API hipFileError_t hipFileExtQueryPath(hipFileHandle_t fh, const void *buffer_base,
                                               size_t size, hoff_t file_offset,
                                               hoff_t buffer_offset, hipFileOpcode_t opcode,
                                               hipFileExtPath_t *path);

/** Facts about a registered file. Tries to open the second view. */
HIPFILE_API hipFileError_t hipFileExtGetFileInfo(hipFileHandle_t fh, hipFileExtFileInfo_t *info);

/** Names, constant storage, never NULL. */
HIPFILE_API const char *hipFileExtBackendName(hipFileExtBackend_t backend);
HIPFILE_API const char *hipFileExtRefusalName(hipFileExtRefusal_t refusal);
HIPFILE_API const char *hipFileExtViewReasonName(hipFileExtViewReason_t reason);

/**
 * The storage engine in use ("uring" or "threads") and why it was chosen. Constant storage.
 * @param[out] reason may be NULL
 */
HIPFILE_API const char *hipFileExtEngine(const char **reason);

/**
 * Rates by wall clock: what was moved or done since the first call began, by the time until the
 * last one ended. Unlike the bandwidths of hipFileStatsLevel1_t they rise with concurrency.
 */
typedef struct hipFileExtRates {
  uint64_t read_bytes_per_sec;
  uint64_t write_bytes_per_sec;
  uint64_t read_ops_per_sec;
  uint64_t write_ops_per_sec;
  uint64_t read_span_ns;  /**< from the first start to the last end; 0: there was no read */
  uint64_t write_span_ns;
} hipFileExtRates_t;

/** The rates of this process; all 0 when nothing was counted. hipFileInvalidValue for NULL. */
HIPFILE_API hipFileError_t hipFileExtGetRates(hipFileExtRates_t *rates);

#ifdef __cplusplus
}
#endif

#endif /* HIPFILE_EXT_H */
