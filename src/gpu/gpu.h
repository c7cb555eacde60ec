// SPDX-License-Identifier: MIT
//
// The GPU seam: the HIP calls that the library makes, as a few operations on values. Each leaves
// the calling thread's current device and last error as it found them (rule 8).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "gpu/loader.h"
#include "gpu/memory_kind.h"
#include "util/mutex.h"
#include "util/result.h"

namespace hipfile {

/// A stream of ours on one device with events to mark places in it: non-blocking and of the highest
/// priority, so that it neither waits for the program's null stream nor behind its kernels (rule
/// 14).
struct CopyStream {
  int device = 0;
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

  /// True if the runtime in use offers hipAmdFileRead and hipAmdFileWrite. Binds nothing.
  bool has_direct_io() const;

  /// One hipAmdFileRead or hipAmdFileWrite on the device that owns `address`.
  DirectResult direct_io(int fd, void* address, size_t size, off_t offset, int device,
                         bool is_write);

  Result<StreamLease> lease_stream(int device);

  /// Queue a copy. `kind` says the direction; the memory must stay until the stream got there.
  Status copy_async(CopyStream& stream, void* to, const void* from, size_t size,
                    hipMemcpyKind kind);
  /// Mark the present end of the stream with event `index`.
  Status record(CopyStream& stream, size_t index);
  /// Sleep until the mark is reached.
  Status wait(CopyStream& stream, size_t index);
  /// Sleep until all that was queued is done.
  Status synchronize(CopyStream& stream);

  /// Let the copy engine reach a range of host memory (hipHostRegister, portable).
  Status pin(void* memory, size_t size);
  void unpin(void* memory);

 private:
  friend class StreamLease;
  const gpu::Runtime* runtime() const { return runtime_.load(std::memory_order_acquire); }
  Result<const gpu::Runtime*> enter() const;
  Result<const gpu::Runtime*> bind_for(const void* pointer);
  Result<std::unique_ptr<CopyStream>> make_stream(int device);
  void give_back(std::unique_ptr<CopyStream> stream);

  std::atomic<const gpu::Runtime*> runtime_{nullptr};
  Mutex mutex_;
  std::vector<std::unique_ptr<CopyStream>> idle_ HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
