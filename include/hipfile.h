/* SPDX-License-Identifier: MIT */
/**
 * @file hipfile.h
 * Move bytes between files and GPU memory.
 *
 * The interface is source- and ABI-compatible with AMD's hipFile 0.5.0. This header compiles alone
 * as C11 and as C++17 and needs only a HIP header (ROCm's, or the portable one of this project).
 *
 * Conventions that hold for every function:
 *  - Sizes and offsets are in bytes unless a name or a docstring says KiB.
 *  - `hipFileError_t::hip_drv_err` is `hipSuccess` unless `err` is `hipFileHipDriverError`.
 *  - A function that returns `ssize_t` returns a byte count (>= 0), or -1 with `errno` set, or a
 *    negated `hipFileOpError_t` (<= -5001).
 *  - Every function may be called from any thread at any time. None throws.
 *  - After fork() every object of the parent is dead in the child: calls on it fail at once. Where
 *    the parent used HIP, HIP is dead there too, and requests fail with hipFileHipDriverError.
 */
#ifndef HIPFILE_H
#define HIPFILE_H

#include <hip/hip_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/* The version of this header; hipFileGetVersion() gives that of the library. */
#define HIPFILE_VERSION_MAJOR 0
#define HIPFILE_VERSION_MINOR 5
#define HIPFILE_VERSION_PATCH 0

#if defined(__GNUC__)
#define HIPFILE_API __attribute__((visibility("default")))
#else
#define HIPFILE_API
#endif

#if defined(__cplusplus) && __cplusplus >= 201703L
#define __HIPFILE_NODISCARD [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define __HIPFILE_NODISCARD [[nodiscard]]
#else
#define __HIPFILE_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors --------------------------------------------------------------------------------- */

/** All codes of hipFileOpError_t but success lie above this value. */
#define HIPFILE_BASE_ERR 5000

/** Result of an operation. 5021 and 5032 are unused on purpose. */
typedef enum hipFileOpError {
  hipFileSuccess = 0,                  /**< no error */
  hipFileDriverNotInitialized = 5001,  /**< close without open; library not in use */
  hipFileDriverInvalidProps = 5002,    /**< a property argument is not acceptable */
  hipFileDriverUnsupportedLimit = 5003,/**< property or limit out of the supported range */
  hipFileDriverVersionMismatch = 5004, /**< kernel side and library do not fit */
  hipFileDriverVersionReadError = 5005,/**< kernel side version cannot be read */
  hipFileDriverClosing = 5006,         /**< library is shut or shutting; request refused */
  hipFilePlatformNotSupported = 5007,  /**< platform cannot run hipFile */
  hipFileIONotSupported = 5008,        /**< this kind of file or handle cannot be served */
  hipFileDeviceNotSupported = 5009,    /**< GPU cannot be used */
  hipFileDriverError = 5010,           /**< kernel side failed */
  hipFileHipDriverError = 5011,        /**< a HIP call failed, see hip_drv_err */
  hipFileHipPointerInvalid = 5012,     /**< bad GPU pointer */
  hipFileHipMemoryTypeInvalid = 5013,  /**< memory kind not usable */
  hipFileHipPointerRangeError = 5014,  /**< range leaves the allocation */
  hipFileHipContextMismatch = 5015,    /**< wrong GPU context */
  hipFileInvalidMappingSize = 5016,    /**< size exceeds the registered range */
  hipFileInvalidMappingRange = 5017,   /**< access outside the registered range */
  hipFileInvalidFileType = 5018,       /**< file type unusable */
  hipFileInvalidFileOpenFlag = 5019,   /**< open flags unusable */
  hipFileDIONotSet = 5020,             /**< O_DIRECT required but absent */
  hipFileInvalidValue = 5022,          /**< bad argument */
  hipFileMemoryAlreadyRegistered = 5023, /**< base already registered */
  hipFileMemoryNotRegistered = 5024,   /**< base not registered */
  hipFilePermissionDenied = 5025,      /**< no permission for device or file */
  hipFileDriverAlreadyOpen = 5026,     /**< setting refused while open */
  hipFileHandleNotRegistered = 5027,   /**< unknown handle */
  hipFileHandleAlreadyRegistered = 5028, /**< descriptor already registered */
  hipFileDeviceNotFound = 5029,        /**< no such GPU */
  hipFileInternalError = 5030,         /**< everything else */
  hipFileGetNewFDFailed = 5031,        /**< cannot get another descriptor */
  hipFileDriverSetupError = 5033,      /**< initialisation failed */
  hipFileIODisabled = 5034,            /**< configuration forbids I/O on the file */
  hipFileBatchSubmitFailed = 5035,     /**< batch could not be queued */
  hipFileGPUMemoryPinningFailed = 5036,/**< could not pin GPU memory */
  hipFileBatchFull = 5037,             /**< more requests than free batch slots */
  hipFileAsyncNotSupported = 5038,     /**< async unavailable */
  hipFileIOMaxError = 5039             /**< end marker */
} hipFileOpError_t;

/** A hipFile code with the HIP code behind it. Returned by value in one register. */
typedef struct __HIPFILE_NODISCARD hipFileError {
  hipFileOpError_t err;   /**< what happened */
  hipError_t hip_drv_err; /**< the HIP error when err is hipFileHipDriverError */
} hipFileError_t;

/** True for a negated (or plain) hipFile code. Meaningful for negative results only. */
#define IS_HIPFILE_ERR(err) (abs((int)(err)) > HIPFILE_BASE_ERR)
/** The text of a negated (or plain) hipFile code. */
#define HIPFILE_ERRSTR(err) hipFileGetOpErrorString((hipFileOpError_t)abs((int)(err)))
#ifndef IS_HIP_DRV_ERR
/** True when a hipFileError_t carries a HIP error. */
#define IS_HIP_DRV_ERR(e) ((e).err == hipFileHipDriverError)
#endif
#ifndef HIP_DRV_ERR
/** The HIP error that a hipFileError_t carries. */
#define HIP_DRV_ERR(e) ((e).hip_drv_err)
#endif

/**
 * The text for a code.
 * @return constant storage, never NULL; one generic text for values that are no code.
 */
HIPFILE_API const char *hipFileGetOpErrorString(hipFileOpError_t status);

/* ---- Files ---------------------------------------------------------------------------------- */

/** A registered file. Carries a generation, so a stale handle is recognised. */
typedef void *hipFileHandle_t;
/** A file or buffer offset in bytes. */
typedef off_t hoff_t;

/** What a hipFileDescr_t describes. Only OpaqueFD is supported. */
typedef enum hipFileFileHandleType {
  hipFileHandleTypeOpaqueFD = 1,    /**< a POSIX file descriptor */
  hipFileHandleTypeOpaqueWin32 = 2, /**< not supported on Linux */
  hipFileHandleTypeUserspaceFS = 3  /**< not supported */
} hipFileFileHandleType_t;

/** RDMA description passed to user-space file systems. */
typedef struct hipFileRDMAInfo {
  int version;          /**< version of the description */
  int desc_len;         /**< length of desc_str */
  const char *desc_str; /**< the description */
} hipFileRDMAInfo_t;

#define HIPFILE_RDMA_REGISTER 1
#define HIPFILE_RDMA_RELAXED_ORDERING (1 << 1)

/** Operations of a user-space file system. Ignored. */
typedef struct hipFileFSOps {
  const char *(*fs_type)(void *handle);
  int (*getRDMADeviceList)(void *handle, struct sockaddr **hostaddrs);
  int (*getRDMADevicePriority)(void *handle, char *, size_t, hoff_t, struct sockaddr *hostaddr);
  ssize_t (*read)(void *handle, char *, size_t, hoff_t, hipFileRDMAInfo_t *);
  ssize_t (*write)(void *handle, const char *, size_t, hoff_t, hipFileRDMAInfo_t *);
} hipFileFSOps_t;

/** The file to register. Zero it before filling it in. */
typedef struct hipFileDescr {
  hipFileFileHandleType_t type; /**< which member of handle is set */
  union {
    int fd;      /**< for hipFileHandleTypeOpaqueFD */
    void *hFile; /**< for hipFileHandleTypeOpaqueWin32 */
  } handle;
  const hipFileFSOps_t *fs_ops; /**< ignored */
} hipFileDescr_t;

/**
 * Register an open file for I/O. Opens the library (use count 0 becomes 1).
 *
 * The library duplicates the descriptor, and where possible opens the file a second time with
 * O_DIRECT flipped, so that it has a buffered and a direct view. The file, its flock and its mount
 * therefore live until deregistration, even if the caller closes the descriptor. A second view that
 * cannot be opened never fails the registration; hipFileExtGetFileInfo() gives the reason.
 *
 * @param[out] fh    the handle
 * @param[in]  descr the descriptor; not kept
 * @return hipFileInvalidValue (NULL argument), hipFileIONotSupported (not OpaqueFD),
 *         hipFileInternalError (invalid descriptor), hipFileGetNewFDFailed (EMFILE, ENFILE),
 *         hipFileHandleAlreadyRegistered (the number is registered and still the same open file).
 */
HIPFILE_API hipFileError_t hipFileHandleRegister(hipFileHandle_t *fh, hipFileDescr_t *descr);

/**
 * End a registration. NULL, unknown and stale handles are ignored. I/O in flight finishes; the file
 * is released when the last operation on it has. The caller's descriptor stays open.
 */
HIPFILE_API void hipFileHandleDeregister(hipFileHandle_t fh);

/* ---- Buffers -------------------------------------------------------------------------------- */

/**
 * Register memory for I/O, so that later calls on this base need not ask the GPU runtime about it.
 * Opens the library, even when it then fails (use count 0 becomes 1).
 *
 * Device, pinned, managed and plain host memory are accepted. Identity is the exact base address.
 *
 * @param buffer_base start of the range; may lie inside an allocation
 * @param length      bytes; 0 is accepted
 * @param flags       ignored
 * @return hipFileInvalidValue (NULL), hipFileMemoryAlreadyRegistered,
 *         hipFileHipPointerRangeError (the range overflows or leaves the allocation),
 *         hipFileHipDriverError (another HIP failure).
 */
HIPFILE_API hipFileError_t hipFileBufRegister(const void *buffer_base, size_t length, int flags);

/**
 * End a buffer registration.
 * @return hipFileDriverClosing (use count 0), hipFileMemoryNotRegistered (also for an address
 *         inside a registered range), hipFileInternalError (in use; it stays registered).
 */
HIPFILE_API hipFileError_t hipFileBufDeregister(const void *buffer_base);

/* ---- Synchronous I/O ------------------------------------------------------------------------ */

/**
 * Read from a file into memory: pread() into `buffer_base + buffer_offset`.
 *
 * One call moves at most 0x7ffff000 bytes. A read at or past the end of the file returns the bytes
 * up to it, then 0. If part of a request was moved before a failure, that count is returned, as
 * pread(2) does. The file position is neither used nor changed. When the call returns, the data are
 * visible to the device and to the host.
 *
 * @param fh            a registered file
 * @param buffer_base   device, pinned, managed or plain host memory, registered or not
 * @param size          bytes
 * @param file_offset   in bytes, >= 0
 * @param buffer_offset added to buffer_base, >= 0
 * @return bytes read; -1 and errno (EINVAL: use count 0 or a negative offset; else what the system
 *         call gave); or a negated code: hipFileHandleNotRegistered, hipFileInvalidValue (NULL
 *         buffer, or a range outside it), hipFileHipDriverError, hipFileInternalError (no backend
 *         accepts the request), hipFileDriverClosing (process exit).
 */
HIPFILE_API ssize_t hipFileRead(hipFileHandle_t fh, void *buffer_base, size_t size,
                                hoff_t file_offset, hoff_t buffer_offset);

/**
 * Write memory to a file: pwrite() from `buffer_base + buffer_offset`. As hipFileRead(), and:
 * writing past the end extends the file; nothing is flushed (fsync the descriptor for durability);
 * a file opened with O_APPEND gives -hipFileInvalidFileOpenFlag, since pwrite(2) would ignore the
 * offset there.
 */
HIPFILE_API ssize_t hipFileWrite(hipFileHandle_t fh, const void *buffer_base, size_t size,
                                 hoff_t file_offset, hoff_t buffer_offset);

/* ---- Library life --------------------------------------------------------------------------- */

/** Bit positions of hipFileDriverProps_t::nvfs.driver_status_flags. */
typedef enum hipFileDriverStatusFlags {
  hipFileLustreSupported = 0,
  hipFileWekaFSSupported = 1,
  hipFileNFSSupported = 2,
  hipFileGPFSSupported = 3,
  hipFileNVMeSupported = 4,
  hipFileNVMeoFSupported = 5,
  hipFileSCSISupported = 6,
  hipFileScaleFluxCSDSupported = 7,
  hipFileNVMeshSupported = 8,
  hipFileBeeGFSSupported = 9,
  hipFileNVMeP2PSupported = 11,
  hipFileScatefsSupported = 12
} hipFileDriverStatusFlags_t;

/** Bit positions of hipFileDriverProps_t::nvfs.driver_control_flags. */
typedef enum hipFileDriverControlFlags {
  hipFileUsePollMode = 0,
  hipFileAllowCompatMode = 1
} hipFileDriverControlFlags_t;

/** Bit positions of hipFileDriverProps_t::feature_flags. */
typedef enum hipFileFeatureFlags {
  hipFileDynRoutingSupported = 0,
  hipFileBatchIOSupported = 1,
  hipFileStreamsSupported = 2,
  hipFileParallelIOSupported = 3
} hipFileFeatureFlags_t;

/** Properties of the library. Sizes are in KiB. */
typedef struct hipFileDriverProps {
  struct {
    unsigned int major_version;
    unsigned int minor_version;
    uint64_t poll_thresh_size;
    uint64_t max_direct_io_size;
    unsigned int driver_status_flags;
    unsigned int driver_control_flags;
  } nvfs;
  unsigned int feature_flags;
  uint64_t max_device_cache_size;
  uint64_t per_buffer_cache_size;
  uint64_t max_device_pinned_mem_size;
  unsigned int max_batch_io_count;
  unsigned int max_batch_io_timeout_msecs;
} hipFileDriverProps_t;

/** Open the library: use count + 1. Registering a file or a buffer opens it too. */
HIPFILE_API hipFileError_t hipFileDriverOpen(void);

/**
 * Use count - 1. When it reaches 0 every file and buffer is deregistered, every batch is destroyed,
 * what the program set as parameters is dropped, and the call waits for the operations that run. It
 * does not wait for streams that stand still: operations which they reach afterwards store
 * -hipFileDriverClosing. Registered streams survive.
 * @return hipFileDriverNotInitialized when the count is 0 already; hipFileDriverClosing in a host
 *         function of a stream, where the call would wait for itself, and while the process ends.
 */
HIPFILE_API hipFileError_t hipFileDriverClose(void);

/** The use count; 0 in a child of fork(). */
HIPFILE_API int64_t hipFileUseCount(void);

/**
 * What the library can do and how it is set, open or closed; opens nothing. While closed, values
 * that are staged for the next open are told. NVMe and NVMeP2P support mean that the HIP runtime,
 * which this call may load, has a direct path from storage to GPU memory.
 * @return hipFileInvalidValue for NULL.
 */
HIPFILE_API hipFileError_t hipFileDriverGetProperties(hipFileDriverProps_t *props);

/*
 * The setters write parameters (see below): they are staged while the library is closed, hold from
 * the next open to the last close, and while it is open they change nothing and give
 * hipFileDriverAlreadyOpen. A limit that does not fit gives hipFileDriverUnsupportedLimit.
 */

/**
 * Whether requests up to a threshold wait by asking again and again instead of sleeping.
 * @param poll_threshold_size KiB, a multiple of 4
 */
HIPFILE_API hipFileError_t hipFileDriverSetPollMode(bool poll, size_t poll_threshold_size);
/** The largest read or write that the library asks of the system: KiB, a multiple of 64. */
HIPFILE_API hipFileError_t hipFileDriverSetMaxDirectIOSize(size_t max_direct_io_size);
/** Bounce memory of the process: KiB, a multiple of 4. At least 8 MiB are taken when needed. */
HIPFILE_API hipFileError_t hipFileDriverSetMaxCacheSize(size_t max_cache_size);
/** How much of it may be pinned: KiB, a multiple of 4. What is beyond stays pageable. */
HIPFILE_API hipFileError_t hipFileDriverSetMaxPinnedMemSize(size_t max_pinned_size);

/* ---- Batch ---------------------------------------------------------------------------------- */

typedef enum hipFileOpcode { hipFileBatchRead = 0, hipFileBatchWrite = 1 } hipFileOpcode_t;

typedef enum hipFileStatus {
  hipFileWaiting = 0x01,
  hipFilePending = 0x02,
  hipFileInvalid = 0x04,
  hipFileCanceled = 0x08,
  hipFileComplete = 0x10,
  hipFileTimeout = 0x20,
  hipFileFailed = 0x40
} hipFileStatus_t;

typedef enum hipFileBatchMode { hipFileBatch = 1 } hipFileBatchMode_t;

/** One request of a batch. */
typedef struct hipFileIOParams {
  hipFileBatchMode_t mode;
  union {
    struct {
      void *devPtr_base;
      int64_t file_offset;
      int64_t devPtr_offset;
      size_t size;
    } batch;
  } u;
  hipFileHandle_t fh;
  hipFileOpcode_t opcode;
  void *cookie;
} hipFileIOParams_t;

/** The end of one request. `ret` is a byte count, or a negative value stored as size_t. */
typedef struct hipFileIOEvents {
  void *cookie;
  hipFileStatus_t status;
  size_t ret;
} hipFileIOEvents_t;

typedef void *hipFileBatchHandle_t;

/**
 * Make a batch with room for `max_nr` requests, 1 to the parameter IOBatchsize. Open or closed; the
 * use count stays. The last hipFileDriverClose() ends every batch.
 * @param[out] batch_idp the new batch, until hipFileBatchIODestroy()
 * @return hipFileInvalidValue (NULL, or a number out of range).
 */
HIPFILE_API hipFileError_t hipFileBatchIOSetUp(hipFileBatchHandle_t *batch_idp, unsigned max_nr);
/**
 * Queue `nr` requests, all or none. They run in any order, each as hipFileRead() or hipFileWrite()
 * would, on threads of the library; files, directions, memories and devices may be mixed. Each
 * takes a place in the batch until its event was fetched. The parameters are copied; files may be
 * deregistered meanwhile, memory must stay.
 * @param flags ignored
 * @return hipFileInvalidValue (unknown batch, no request, or a request whose mode, opcode, offset
 *         or size is wrong), hipFileBatchFull (more than free places),
 *         hipFileHandleNotRegistered, hipFileInvalidFileOpenFlag (a write, and the descriptor
 *         appends), hipFileHipDriverError, hipFileInternalError (the library is closed),
 *         hipFileBatchSubmitFailed (no thread or memory is to be had).
 */
HIPFILE_API hipFileError_t hipFileBatchIOSubmit(hipFileBatchHandle_t batch_idp, unsigned nr,
                                                hipFileIOParams_t *iocbp, unsigned flags);
/**
 * Fetch events, each once, in the order in which the requests ended. Waits until `min_nr` are
 * there, or as many as requests are outstanding, or the time is over; fewer events are a success.
 * @param[in,out] nr  room in `iocbp`, at least 1 and min_nr; then how many events were stored
 * @param timeout     NULL waits without limit (or for the parameter BatchIOTimeoutMs), {0, 0} polls
 * @return hipFileInvalidValue (unknown batch, NULL, a number or a time that is none).
 */
HIPFILE_API hipFileError_t hipFileBatchIOGetStatus(hipFileBatchHandle_t batch_idp, unsigned min_nr,
                                                   unsigned *nr, hipFileIOEvents_t *iocbp,
                                                   struct timespec *timeout);
/**
 * End what has not begun, as hipFileCanceled: file and memory stay as they are. Waits for what
 * runs. The batch stays usable. @return hipFileInvalidValue (unknown batch).
 */
HIPFILE_API hipFileError_t hipFileBatchIOCancel(hipFileBatchHandle_t batch_idp);
/** Cancel, wait for what runs, and end the batch. NULL and unknown batches are ignored. */
HIPFILE_API void hipFileBatchIODestroy(hipFileBatchHandle_t batch_idp);

/* ---- Asynchronous I/O ----------------------------------------------------------------------- */

/*
 * Flags of a registered stream: which values are bound when a call is made. The others are read
 * when the stream gets to the operation. PAGE_ALIGNED_INPUTS is a promise that all are multiples
 * of 4096; nothing depends on it.
 */
#define HIPFILE_STREAM_FIXED_BUF_OFFSET 1
#define HIPFILE_STREAM_FIXED_FILE_OFFSET 2
#define HIPFILE_STREAM_FIXED_FILE_SIZE 4
#define HIPFILE_STREAM_PAGE_ALIGNED_INPUTS 8
#define HIPFILE_STREAM_FLAGS_MASK 0xf

/**
 * Queue a read or a write in a stream: it begins after all earlier work there, and later work
 * waits for it. Operations of one stream run one after the other, those of different streams side
 * by side.
 *
 * The values behind size_p, file_offset_p and buffer_offset_p may change until the stream gets
 * there, unless a flag of the stream fixes them: a smaller size and other offsets count, a larger
 * size or a range outside the buffer gives -hipFileInvalidValue. All pointers must stay valid
 * until the stream has passed the operation, and so must the memory; the file may be deregistered
 * meanwhile. *bytes is 0 from the call on; before the stream goes on it holds the bytes moved, -1
 * (a system call failed) or a negated code. Bytes outside that count are not touched. The stream
 * itself is never in error. An operation that is reached after hipFileDriverClose() stores
 * -hipFileDriverClosing.
 *
 * Behind a stream that stands still the call may block once about a thousand entries are queued, as
 * any launch does. Where the HIP runtime has no late-bound copy or no wait for values, and with the
 * parameter StreamMemopsBypass, the call waits for the stream and does the work itself.
 * @param stream  of the device that owns the memory; NULL is the null stream of the current device
 * @return hipFileInvalidValue (closed library, which is opened by it; NULL; a range outside the
 *         buffer; a stream of another device), hipFileHandleNotRegistered,
 *         hipFileAsyncNotSupported (the stream captures), hipFileHipDriverError (no such stream,
 *         no pinned memory, or a host function of a stream), hipFileInvalidFileOpenFlag (a write,
 *         and the descriptor appends).
 */
HIPFILE_API hipFileError_t hipFileReadAsync(hipFileHandle_t fh, void *buffer_base, size_t *size_p,
                                            hoff_t *file_offset_p, hoff_t *buffer_offset_p,
                                            ssize_t *bytes_read_p, hipStream_t stream);
/** See hipFileReadAsync(). */
HIPFILE_API hipFileError_t hipFileWriteAsync(hipFileHandle_t fh, void *buffer_base, size_t *size_p,
                                             hoff_t *file_offset_p, hoff_t *buffer_offset_p,
                                             ssize_t *bytes_written_p, hipStream_t stream);
/**
 * Say which values of operations in a stream are fixed. Optional: a stream that is not registered
 * has flags 0. Lasts until hipFileStreamDeregister(), also over hipFileDriverClose().
 * @param flags HIPFILE_STREAM_*
 * @return hipFileInvalidValue (other bits, or registered already), hipFileHipDriverError (no
 *         stream).
 */
HIPFILE_API hipFileError_t hipFileStreamRegister(hipStream_t stream, unsigned flags);
/** Operations that are queued are done as ever. @return hipFileInvalidValue (not registered). */
HIPFILE_API hipFileError_t hipFileStreamDeregister(hipStream_t stream);

/* ---- Version and parameters ----------------------------------------------------------------- */

/** The version of the library. NULL outputs are skipped. Always succeeds, opens nothing. */
HIPFILE_API hipFileError_t hipFileGetVersion(unsigned *major, unsigned *minor, unsigned *patch);

/*
 * Parameters. In order of precedence: set by the program, HIPFILE_* in the environment, the file
 * hipfile.json (its path in HIPFILE_ENV_PATH_JSON, else /etc/hipfile.json), the default. What the
 * program sets while the library is closed is staged, comes into force at the next open and is
 * dropped at the last close. docs/configuration.md has ranges, keys and variables.
 */

/** Numbers. Sizes are in KiB. */
typedef enum hipFileSizeTConfigParameter {
  hipFileParamProfileStats = 0,                       /**< level of the statistics, 0 to 3 */
  hipFileParamExecutionMaxIOQueueDepth = 1,           /**< operations of a request in flight */
  hipFileParamExecutionMaxIOThreads = 2,              /**< threads of the pool; 0: as fits here */
  hipFileParamExecutionMinIOThresholdSizeKB = 3,      /**< smaller requests are not run in parts */
  hipFileParamExecutionMaxRequestParallelism = 4,     /**< parts of a request in flight; 0: one */
  hipFileParamPropertiesMaxDirectIOSizeKB = 5,        /**< the largest system call */
  hipFileParamPropertiesMaxDeviceCacheSizeKB = 6,     /**< bounce memory of the process */
  hipFileParamPropertiesPerBufferCacheSizeKB = 7,     /**< bounce memory of a request */
  hipFileParamPropertiesMaxDevicePinnedMemSizeKB = 8, /**< how much of it may be pinned */
  hipFileParamPropertiesIOBatchsize = 9,              /**< requests of a batch, 1 to 4096 */
  hipFileParamPollthresholdSizeKB = 10,               /**< poll mode up to this size */
  hipFileParamPropertiesBatchIOTimeoutMs = 11         /**< longest wait for a batch; 0: no limit */
} hipFileSizeTConfigParameter_t;

/** Switches. */
typedef enum hipFileBoolConfigParameter {
  hipFileParamPropertiesUsePollMode = 0,     /**< small requests wait without sleeping */
  hipFileParamPropertiesAllowCompatMode = 1, /**< the way through host memory may be taken */
  hipFileParamForceCompatMode = 2,           /**< the direct path is never taken */
  hipFileParamFsMiscApiCheckAggressive = 3,  /**< kept, and without an effect */
  hipFileParamExecutionParallelIO = 4,       /**< parts of a request run side by side */
  hipFileParamProfileNvtx = 5,               /**< NVTX and rocTX ranges */
  hipFileParamPropertiesAllowSystemMemory = 6, /**< host memory is accepted */
  hipFileParamUsePcip2pdma = 7,                /**< kept, and without an effect */
  hipFileParamPreferIOUring = 8,               /**< io_uring for the page cache too */
  hipFileParamForceOdirectMode = 9,            /**< O_DIRECT even for cached ranges */
  hipFileParamSkipTopologyDetection = 10,      /**< kept, and without an effect */
  hipFileParamStreamMemopsBypass = 11          /**< asynchronous calls take the blocking form */
} hipFileBoolConfigParameter_t;

/** Texts. */
typedef enum hipFileStringConfigParameter {
  hipFileParamLoggingLevel = 0,   /**< OFF, ERROR, WARNING, INFO, DEBUG */
  hipFileParamEnvLogfilePath = 1, /**< the log file; empty: in LogDir, or standard error */
  hipFileParamLogDir = 2          /**< for hipfile_PID.log; not applied if it is no directory */
} hipFileStringConfigParameter_t;

/**
 * The value in force while the library is open; while it is closed the staged one, or else that of
 * environment, file or default. Opens nothing.
 * @return hipFileInvalidValue for NULL or a value that is no parameter.
 */
HIPFILE_API hipFileError_t hipFileGetParameterSizeT(hipFileSizeTConfigParameter_t param,
                                                    size_t *value);
/** See hipFileGetParameterSizeT(). */
HIPFILE_API hipFileError_t hipFileGetParameterBool(hipFileBoolConfigParameter_t param, bool *value);
/**
 * See hipFileGetParameterSizeT().
 * @param len bytes of desc_str. A text that does not fit with its terminating zero gives
 *            hipFileInvalidValue, and desc_str is left as it was.
 */
HIPFILE_API hipFileError_t hipFileGetParameterString(hipFileStringConfigParameter_t param,
                                                     char *desc_str, int len);
/**
 * Stage a value for the next open.
 * @return hipFileDriverAlreadyOpen while the library is open; hipFileInvalidValue for a value that
 *         is no parameter or does not fit it.
 */
HIPFILE_API hipFileError_t hipFileSetParameterSizeT(hipFileSizeTConfigParameter_t param,
                                                    size_t value);
/** See hipFileSetParameterSizeT(). */
HIPFILE_API hipFileError_t hipFileSetParameterBool(hipFileBoolConfigParameter_t param, bool value);
/** See hipFileSetParameterSizeT(). The text is copied. */
HIPFILE_API hipFileError_t hipFileSetParameterString(hipFileStringConfigParameter_t param,
                                                     const char *desc_str);

/* ---- Statistics ----------------------------------------------------------------------------- */

/*
 * Counters of this process since its start; in a child of fork since the fork. They do not go back
 * when the library is closed, and those of ended threads stay. Each is exact; a request that ends
 * meanwhile may be in one field and not yet in another.
 *
 * HIPFILE_STATS_LEVEL says what is counted: 0 nothing (the functions succeed and give zeros), 1 or
 * more everything.
 */

#define HIPFILE_MAX_GPUS 16
#define HIPFILE_GPU_UUID_LEN 16

typedef struct hipFileOpCounter {
  uint64_t ok;
  uint64_t err;
} hipFileOpCounter_t;

/**
 * Sums over all devices and host memory. `ok` of an operation counts what succeeded, a short count
 * too; `err` what failed. `*_lat_sum_us` is the sum of the times of the calls that succeeded and
 * `*_lat_avg_us` that by their number; `*_bw_*` is bytes by that sum, and so does not rise with
 * concurrency. `*_per_sec` counts by wall clock, from the first start to the last end.
 * hipFileExtGetRates() gives bytes by wall clock.
 */
typedef struct hipFileStatsLevel1 {
  hipFileOpCounter_t read_ops;
  hipFileOpCounter_t write_ops;
  hipFileOpCounter_t hdl_register_ops;
  hipFileOpCounter_t hdl_deregister_ops;
  hipFileOpCounter_t buf_register_ops;
  hipFileOpCounter_t buf_deregister_ops;
  uint64_t read_bytes;
  uint64_t write_bytes;
  uint64_t read_bw_bytes_per_sec;
  uint64_t write_bw_bytes_per_sec;
  uint64_t read_lat_avg_us;
  uint64_t write_lat_avg_us;
  uint64_t read_ops_per_sec;
  uint64_t write_ops_per_sec;
  uint64_t read_lat_sum_us;
  uint64_t write_lat_sum_us;
  hipFileOpCounter_t batch_submit_ops;
  hipFileOpCounter_t batch_complete_ops;
  hipFileOpCounter_t batch_setup_ops;
  hipFileOpCounter_t batch_cancel_ops;
  hipFileOpCounter_t batch_destroy_ops;
  hipFileOpCounter_t batch_enqueued_ops;
  hipFileOpCounter_t batch_posix_enqueued_ops;
  hipFileOpCounter_t batch_processed_ops;
  hipFileOpCounter_t batch_posix_processed_ops;
  hipFileOpCounter_t batch_nvfs_submit_ops;
  hipFileOpCounter_t batch_p2p_submit_ops;
  hipFileOpCounter_t batch_aio_submit_ops;
  hipFileOpCounter_t batch_iouring_submit_ops;
  hipFileOpCounter_t batch_mixed_io_submit_ops;
  hipFileOpCounter_t batch_total_submit_ops;
  uint64_t batch_read_bytes;
  uint64_t batch_write_bytes;
  uint64_t batch_read_bw_bytes;
  uint64_t batch_write_bw_bytes;
  uint64_t batch_submit_lat_avg_us;
  uint64_t batch_completion_lat_avg_us;
  uint64_t batch_submit_ops_per_sec;
  uint64_t batch_complete_ops_per_sec;
  uint64_t batch_submit_lat_sum_us;
  uint64_t batch_completion_lat_sum_us;
  uint64_t last_batch_read_bytes;
  uint64_t last_batch_write_bytes;
} hipFileStatsLevel1_t;

/**
 * Level 1, and how many requests succeeded by the size asked for: bucket 0 below 4 KiB, bucket i
 * from 2^(i+1) KiB to just below 2^(i+2) KiB. Requests of size 0 are in none, nor are reads that
 * begin at the end of the file or behind it.
 */
typedef struct hipFileStatsLevel2 {
  hipFileStatsLevel1_t basic;
  uint64_t read_size_kb_hist[32];
  uint64_t write_size_kb_hist[32];
} hipFileStatsLevel2_t;

/**
 * One GPU: the one that owns the memory, whichever is current. `*_duration_us` is the sum of call
 * times, and `*_utilization` that by the wall-clock time from the first start to the last end, in
 * percent: the mean number of calls in flight times 100. `n_nvfs_*` went the fast path, `n_posix_*`
 * another, `n_total_*` is their sum; `n_unaligned_*` could not go the fast path as a whole because
 * of their alignment. `n_mmap` counts buffer registrations, `n_mmap_free` their ends, `reg_bytes`
 * is what is registered now. `n_p2p_*`, `n_dr_*`, `n_sparse_regions` and `n_inline_regions` are 0.
 */
typedef struct hipFilePerGpuStats {
  char uuid[HIPFILE_GPU_UUID_LEN];
  uint64_t read_bytes;
  uint64_t read_bw_bytes_per_sec;
  uint64_t read_utilization;
  uint64_t read_duration_us;
  uint64_t n_total_reads;
  uint64_t n_p2p_reads;
  uint64_t n_nvfs_reads;
  uint64_t n_posix_reads;
  uint64_t n_unaligned_reads;
  uint64_t n_dr_reads;
  uint64_t n_sparse_regions;
  uint64_t n_inline_regions;
  uint64_t n_reads_err;
  union { /* earlier drafts, and cuFile, spell it with an s */
    uint64_t write_bytes;
    uint64_t writes_bytes;
  };
  uint64_t write_bw_bytes_per_sec;
  uint64_t write_utilization;
  uint64_t write_duration_us;
  uint64_t n_total_writes;
  uint64_t n_p2p_writes;
  uint64_t n_nvfs_writes;
  uint64_t n_posix_writes;
  uint64_t n_unaligned_writes;
  uint64_t n_dr_writes;
  uint64_t n_writes_err;
  uint64_t n_mmap;
  uint64_t n_mmap_ok;
  uint64_t n_mmap_err;
  uint64_t n_mmap_free;
  uint64_t reg_bytes;
} hipFilePerGpuStats_t;

/**
 * Level 2, and each GPU by its ordinal. Those from HIPFILE_MAX_GPUS on are in the sums of levels 1
 * and 2 only. `num_gpus` is how many saw a request.
 */
typedef struct hipFileStatsLevel3 {
  hipFileStatsLevel2_t detailed;
  uint32_t num_gpus;
  hipFilePerGpuStats_t per_gpu_stats[HIPFILE_MAX_GPUS];
} hipFileStatsLevel3_t;

/**
 * The statistics of this process. The structure is overwritten as a whole. Independent of the use
 * count.
 * @return hipFileInvalidValue for NULL
 */
HIPFILE_API hipFileError_t hipFileGetStatsL1(hipFileStatsLevel1_t *stats);
HIPFILE_API hipFileError_t hipFileGetStatsL2(hipFileStatsLevel2_t *stats);
HIPFILE_API hipFileError_t hipFileGetStatsL3(hipFileStatsLevel3_t *stats);

#ifdef __cplusplus
}
#endif

#undef __HIPFILE_NODISCARD

#endif /* HIPFILE_H */
