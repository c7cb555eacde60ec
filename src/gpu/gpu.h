// SPDX-License-Identifier: MIT
//
// The GPU seam: the HIP calls that the library makes, as a few operations on values. Each leaves
// the calling thread's current device and last error as it found them (rule 8).
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "gpu/loader.h"
#include "gpu/memory_kind.h"
#include "util/mutex.h"
#include "util/result.h"

namespace hipfile {

/// A stream of ours on one device with events to mark places in it: non-blocking and of the highest
/// priority, so that it neither waits for the program's null stream nor behind its kernels
/// (rule 14).
struct CopyStream {
  const gpu::Runtime* runtime = nullptr;
  int device = 0;
  int numa_node = -1;  ///< of the device; -1 if unknown
  hipStream_t stream = nullptr;
  std::vector<hipEvent_t> events;  ///< made as they are needed, kept
};

class Gpu;

/// A copy stream for the time of one request.
class StreamLease {
 public:
  StreamLease() = default;
  StreamLease(Gpu* gpu, std::unique_ptr<CopyStream> stream)
      : gpu_(gpu), stream_(std::move(stream)) {}
  StreamLease(StreamLease&&) = default;
  StreamLease& operator=(StreamLease&&) = default;
  ~StreamLease();
  CopyStream& operator*() const { return *stream_; }

 private:
  Gpu* gpu_ = nullptr;
  std::unique_ptr<CopyStream> stream_;
};

/// A transfer straight between a direct descriptor and device memory.
struct DirectIo {
  int fd = -1;
  void* address = nullptr;
  size_t size = 0;   ///< bytes
  off_t offset = 0;  ///< bytes
  bool is_write = false;
};

/// What the runtime's direct file I/O answered.
struct DirectResult {
  size_t done = 0;
  Error error = Error::of(hipFileSuccess);
};

/// Thread-safe.
class Gpu {
 public:
  Gpu() = default;
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// What a pointer is. Binds the runtime at the first call. Plain host memory is a success.
  Result<PointerInfo> query(const void* pointer);

  /// True if that runtime (NULL: none) offers hipAmdFileRead and hipAmdFileWrite. Binds nothing.
  bool has_direct_io(const gpu::Runtime* runtime) const;

  /// One hipAmdFileRead or hipAmdFileWrite on the device that owns the memory.
  DirectResult direct_io(const gpu::Runtime* runtime, int device, const DirectIo& io);

  Result<StreamLease> lease_stream(const gpu::Runtime* runtime, int device);

  /// Queue a copy. `kind` says the direction; the memory must stay until the stream got there.
  Status copy_async(CopyStream& stream, void* to, const void* from, size_t size,
                    hipMemcpyKind kind);
  /// Mark the present end of the stream with event `index`.
  Status record(CopyStream& stream, size_t index);
  /// Sleep until the mark is reached.
  Status wait(CopyStream& stream, size_t index);
  /// Sleep until all that was queued is done.
  Status synchronize(CopyStream& stream);

  /// Let the copy engines reach a range of host memory (hipHostRegister, portable). Where several
  /// runtimes are in use, those of the one that was bound first.
  Status pin(void* memory, size_t size);
  void unpin(void* memory);

 private:
  friend class StreamLease;
  Result<std::unique_ptr<CopyStream>> make_stream(const gpu::Runtime* runtime, int device);
  void give_back(std::unique_ptr<CopyStream> stream);

  Mutex mutex_;
  size_t made_ HIPFILE_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<CopyStream>> idle_ HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
