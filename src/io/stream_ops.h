// SPDX-License-Identifier: MIT
//
// What the operations in streams share: pool and poller, pinned memory, and the closing of the
// driver.
#pragma once

#include <deque>
#include <memory>

#include "gpu/device_health.h"
#include "gpu/stream_memory.h"
#include "io/plan.h"
#include "util/mutex.h"
#include "util/statistics.h"
#include "util/thread_pool.h"

namespace hipfile {

class StreamOp;

/// Thread-safe. Lives as long as the process: a stream may reach an operation at any time.
class StreamOps {
 public:
  StreamOps(const BackendList& backends, ThreadPool& pool, StreamMemory& memory,
            Statistics& statistics)
      : backends_(backends), pool_(pool), memory_(memory), statistics_(statistics) {}
  StreamOps(const StreamOps&) = delete;
  StreamOps& operator=(const StreamOps&) = delete;

  const BackendList& backends() const { return backends_; }
  ThreadPool& pool() { return pool_; }
  StreamMemory& memory() { return memory_; }
  Statistics& statistics() { return statistics_; }
  DeviceHealth& health() { return health_; }

  /// Threads are started here, on the program's thread: what runs later has them. False if there
  /// are none to be had.
  bool start_threads();
  /// Let the poller look at an operation.
  void watch(std::shared_ptr<StreamOp> op);

  /// An operation queued now belongs to the present epoch; close() ends it.
  uint64_t epoch() const;
  void note_queued();
  void note_gone();
  /// The stream reached an operation. False if its epoch is over: it must not run.
  bool begin(uint64_t epoch);
  void note_ended();

  /// Operations that are reached from now on do not run; waits for those that do.
  void close();
  /// True if streams hold operations, reached or not.
  bool has_queued() const;

 private:
  static void* poll_thread(void* self);
  void poll_until_idle();

  const BackendList& backends_;
  ThreadPool& pool_;
  StreamMemory& memory_;
  Statistics& statistics_;
  DeviceHealth health_;

  mutable Mutex mutex_;
  CondVar change_;
  uint64_t epoch_ HIPFILE_GUARDED_BY(mutex_) = 0;
  size_t queued_ HIPFILE_GUARDED_BY(mutex_) = 0;
  size_t running_ HIPFILE_GUARDED_BY(mutex_) = 0;
  bool has_poller_ HIPFILE_GUARDED_BY(mutex_) = false;
  bool is_in_round_ HIPFILE_GUARDED_BY(mutex_) = false;
  std::deque<std::shared_ptr<StreamOp>> watched_ HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
