// SPDX-License-Identifier: MIT
//
// Streams for copies, kept for the next request. A thread keeps those that it used, so that a
// request of a thread that did one before takes no lock (rule 30).
#pragma once

#include <memory>
#include <vector>

#include "gpu/loader.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace hipfile {

/// A stream of ours on one device with events to mark places in it: non-blocking and of the highest
/// priority, so that it neither waits for the program's null stream nor behind its kernels
/// (rule 14).
struct CopyStream {
  const gpu::Runtime* runtime = nullptr;
  int device = 0;
  int numa_node = -1;  ///< of the device; -1 if unknown
  hipStream_t stream = nullptr;
  std::vector<hipEvent_t> events;    ///< made as they are needed, kept
  bool is_polled = false;            ///< for this lease: wait() and synchronize() spin
  std::unique_ptr<CopyStream> next;  ///< link of the list that keeps it

  CopyStream() = default;
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  /// Gives stream and events back to the runtime, unless that is gone.
  ~CopyStream();
};

/// Streams that no request holds. They are linked, so that keeping one cannot fail.
class StreamList {
 public:
  void push(std::unique_ptr<CopyStream> stream);
  std::unique_ptr<CopyStream> pop();
  /// One on that device, or NULL.
  std::unique_ptr<CopyStream> take(const gpu::Runtime* runtime, int device);
  /// Forget the streams, and leave them to the runtime.
  void abandon();
  ~StreamList();

 private:
  std::unique_ptr<CopyStream> first_;
};

/// The streams of one Gpu. Thread-safe. Threads share the ownership of the stock that theirs came
/// from, and leave them to it when they end.
class StreamStock : public std::enable_shared_from_this<StreamStock> {
 public:
  StreamStock() = default;
  StreamStock(const StreamStock&) = delete;
  StreamStock& operator=(const StreamStock&) = delete;
  ~StreamStock();

  /// One that the calling thread, or a thread that ended, left; NULL if a new one must be made.
  std::unique_ptr<CopyStream> take(const gpu::Runtime* runtime, int device);
  void give_back(std::unique_ptr<CopyStream> stream);

 private:
  class OfThread;
  OfThread& mine();
  void inherit(StreamList& streams);

  const ForkGuard fork_guard_;
  Mutex mutex_;
  StreamList left_ HIPFILE_GUARDED_BY(mutex_);  // by threads that ended
};

/// A copy stream for the time of one request.
class StreamLease {
 public:
  StreamLease() = default;
  StreamLease(StreamStock* stock, std::unique_ptr<CopyStream> stream)
      : stock_(stock), stream_(std::move(stream)) {}
  StreamLease(StreamLease&&) = default;
  StreamLease& operator=(StreamLease&&) = default;
  ~StreamLease() {
    if (stream_) stock_->give_back(std::move(stream_));
  }
  CopyStream& operator*() const { return *stream_; }

 private:
  StreamStock* stock_ = nullptr;
  std::unique_ptr<CopyStream> stream_;
};

}  // namespace hipfile
