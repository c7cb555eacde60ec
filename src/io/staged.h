// SPDX-License-Identifier: MIT
//
// The bytes of one operation in a stream, chunk by chunk through its lane. The stream does all
// copies, in the order in which they were queued, and waits at a gate before each; what is here
// does the file's side, says what a copy is to do, and opens its gate. No HIP call is made.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/progress.h"
#include "backend/staging.h"
#include "gpu/stream_memory.h"
#include "util/mutex.h"
#include "util/thread_pool.h"

namespace hipfile {

/// Where the chunks of an operation pass. The operation's, for as long as it is queued.
struct Staging {
  StreamGate* gates = nullptr;  ///< one for each chunk that was queued
  size_t gate_count = 0;
  char* lane = nullptr;
  size_t lane_size = 0;   ///< bytes
  size_t chunk_size = 0;  ///< bytes of the request in a chunk

  size_t slot_size() const;
  size_t slot_count() const { return lane_size / slot_size(); }
  char* slot(size_t chunk) const { return lane + chunk % slot_count() * slot_size(); }
};

/// Bytes of a chunk for a request of that size: small enough that file and copies overlap, large
/// enough that one request stays below half of what a stream takes before queueing blocks (rule
/// 11).
size_t staged_chunk_size(size_t request_size);

/// Tasks run on pool threads, poll() on the poller's. Lives as long as its owner.
class StagedTransfer {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Call poll() from time to time, until it answers that this is over. A lock of the transfer is
    /// held.
    virtual void watch() = 0;
    /// Once: no task runs any more, and none will. The transfer may be destroyed here.
    virtual void ended(const Outcome& outcome) = 0;
  };

  virtual ~StagedTransfer() = default;
  StagedTransfer(const StagedTransfer&) = delete;
  StagedTransfer& operator=(const StagedTransfer&) = delete;

  /// On a thread of the pool, which reads a request of one chunk itself. The transfer may be over
  /// when this returns.
  void start();
  /// Start nothing more: the stream will not do what is missing. It ends as ever.
  void stop();
  /// Looks what the stream did. False when it need not be called again.
  bool poll();

 protected:
  struct Chunk {
    StagedTransfer* transfer = nullptr;
    size_t index = 0;
    Task task;
    Staged staged;         // what its file side gave, when it is done
    bool is_done = false;  // its file side
  };

  StagedTransfer(const Request& request, const Staging& staging, ThreadPool& pool, Owner& owner);

  Request part(size_t chunk) const;
  size_t offset_of(size_t chunk) const { return chunk * staging_.chunk_size; }
  bool was_copied(size_t chunk) const;
  /// Let the stream copy, and go on to the next gate.
  void open_gate(size_t chunk, void* to, const void* from, size_t size);
  /// Hand the file side of a chunk to the pool.
  void launch(size_t chunk) HIPFILE_REQUIRES(mutex_);

  virtual Staged run_file_side(size_t chunk) = 0;
  /// Start and open what can be started and opened.
  virtual void advance() HIPFILE_REQUIRES(mutex_) = 0;
  virtual bool is_complete() const HIPFILE_REQUIRES(mutex_) = 0;
  virtual bool waits_for_stream() const HIPFILE_REQUIRES(mutex_) = 0;

  const Request request_;
  const Staging staging_;
  const size_t count_;  // chunks of the request
  mutable Mutex mutex_;
  std::vector<Chunk> chunks_ HIPFILE_GUARDED_BY(mutex_);
  Progress progress_ HIPFILE_GUARDED_BY(mutex_);
  unsigned in_flight_ HIPFILE_GUARDED_BY(mutex_) = 0;  // file sides with the pool

 private:
  static void run_task(void* context);
  /// @param keeps_one  the caller runs a chunk itself, if there is only one
  /// @return that chunk
  Chunk* proceed(const Chunk* finished, bool keeps_one = false);

  ThreadPool& pool_;
  Owner& owner_;
  bool keeps_one_ HIPFILE_GUARDED_BY(mutex_) = false;
  Chunk* kept_ HIPFILE_GUARDED_BY(mutex_) = nullptr;
  bool is_watched_ HIPFILE_GUARDED_BY(mutex_) = false;
  bool has_ended_ HIPFILE_GUARDED_BY(mutex_) = false;
};

/// File to device, or device to file, by the direction of the request.
std::unique_ptr<StagedTransfer> make_staged_transfer(const Request& request, const Staging& staging,
                                                     ThreadPool& pool,
                                                     StagedTransfer::Owner& owner);

}  // namespace hipfile
