// SPDX-License-Identifier: MIT
//
// The GPU seam: the HIP calls that the library makes, as a few operations on values. Each leaves
// the calling thread's current device and last error as it found them (rule 8).
#pragma once

#include <sys/types.h>

#include <memory>

#include "gpu/copy_stream.h"
#include "gpu/loader.h"
#include "gpu/memory_kind.h"
#include "util/result.h"

namespace hipfile {

/// A transfer straight between a descriptor and device memory.
struct DirectIo {
  int fd = -1;
  void* address = nullptr;
  size_t size = 0;   ///< bytes
  off_t offset = 0;  ///< bytes
  bool is_write = false;
  bool is_buffered = false;  ///< a read through the page cache: fd is open without O_DIRECT
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
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// What a pointer is. Binds the runtime at the first call. Plain host memory is a success.
  Result<PointerInfo> query(const void* pointer);

  /// True if that runtime (NULL: none) offers hipAmdFileRead and hipAmdFileWrite. Binds nothing.
  bool has_direct_io(const gpu::Runtime* runtime) const;

  /// The same of the runtime in use, which is bound if none is.
  bool offers_direct_io();

  /// True if that runtime (NULL: none) reads from the page cache into device memory too
  /// (hipPortableFileRead).
  static bool has_buffered_read(const gpu::Runtime* runtime);

  /// One hipAmdFileRead, hipAmdFileWrite or hipPortableFileRead on the device that owns the memory.
  DirectResult direct_io(const gpu::Runtime* runtime, int device, const DirectIo& io);

  /// A stream for one request. No lock where the calling thread had one on that device before.
  /// @param is_polled waits on this stream spin, for the time of the lease
  Result<StreamLease> lease_stream(const gpu::Runtime* runtime, int device, bool is_polled = false);

  /// Queue a copy. `kind` says the direction; the memory must stay until the stream got there.
  Status copy_async(CopyStream& stream, void* to, const void* from, size_t size,
                    hipMemcpyKind kind);
  /// Mark the present end of the stream with event `index`.
  Status record(CopyStream& stream, size_t index);
  /// True if the mark is reached. An error counts as not yet: waiting says what it is.
  bool is_reached(CopyStream& stream, size_t index);
  /// Sleep, or spin, until the mark is reached.
  Status wait(CopyStream& stream, size_t index);
  /// Sleep, or spin, until all that was queued is done.
  Status synchronize(CopyStream& stream);

  /// Let the copy engines reach a range of host memory (hipHostRegister, portable). Where several
  /// runtimes are in use, those of the one that was bound first.
  Status pin(void* memory, size_t size);
  void unpin(void* memory);

 private:
  const std::shared_ptr<StreamStock> stock_ = std::make_shared<StreamStock>();
};

}  // namespace hipfile
