// SPDX-License-Identifier: MIT
//
// The storage seam: how file bytes move to and from host memory. Two engines, io_uring and threads,
// give the same queue of operations.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/turns.h"
#include "util/thread_pool.h"

namespace hipfile {

/// The most operations that one thread has in io_uring.
constexpr unsigned kRingEntries = 128;

/// One read or write at an offset. The memory stays the caller's until the operation is reaped.
struct IoOp {
  int fd = -1;
  void* data = nullptr;
  size_t size = 0;   ///< bytes
  off_t offset = 0;  ///< bytes
  bool is_write = false;
  /// Of io_uring: EAGAIN or EOPNOTSUPP instead of a thread of the kernel's that waits.
  bool no_wait = false;
  uint64_t tag = 0;  ///< comes back with the completion
};

/// The end of one operation. Interrupted and short transfers were continued; `done` < size means
/// the end of the file (error 0) or what `error` says. A write that the kernel ends with 0 bytes
/// reports EIO.
struct IoDone {
  uint64_t tag = 0;
  size_t done = 0;  ///< bytes
  int error = 0;    ///< errno, or 0
};

/// Operations of one request. Used by one thread.
class IoQueue {
 public:
  virtual ~IoQueue() = default;
  /// Start an operation. At most depth() may be in flight.
  virtual void submit(const IoOp& op) = 0;
  /// Start several, with one system call where the engine can.
  virtual void submit_all(std::span<const IoOp> ops) {
    for (const IoOp& op : ops) submit(op);
  }
  /// The next completion, in any order. Waits asleep. Something must be in flight.
  virtual IoDone reap() = 0;
  virtual unsigned depth() const = 0;
};

/// Thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const char* name() const = 0;
  /// A queue for one request. What is in flight when it is destroyed is waited for.
  /// @param depth     operations in flight, at most
  /// @param turns     run them one after the other, in turn with those of other queues; NULL to run
  ///                  them side by side
  /// @param is_polled reap() spins until something completes, instead of sleeping
  virtual std::unique_ptr<IoQueue> open_queue(unsigned depth, std::shared_ptr<Turns> turns,
                                              bool is_polled = false) = 0;
};

/// A queue that runs each operation on the calling thread, when it is submitted.
std::unique_ptr<IoQueue> open_plain_queue();

/// Which engines work here, and why these.
struct EngineChoice {
  std::unique_ptr<Engine> uring;    ///< NULL where io_uring does not work
  std::unique_ptr<Engine> threads;  ///< always there
  ThreadPool* pool = nullptr;       ///< of the threads engine and all other work; leaked
  /// Of operations in streams alone: the threads of the other may all stand in copies behind a call
  /// that waits for the streams (rule 9). Leaked.
  ThreadPool* stream_pool = nullptr;
  FileTurns* turns = nullptr;  ///< of buffered writes, on `pool` (rule 25); leaked
  bool is_uring_forced = false;
  std::string reason;

  /// The threads of the pool, from now on: 0 for as many as are of use here (rule 32).
  void limit_threads(unsigned most) const;
  /// For O_DIRECT: io_uring where it works.
  Engine& direct() const { return uring ? *uring : *threads; }
  /// For the page cache: threads, since io_uring copies cached pages on the submitting thread.
  /// @param prefer_uring the parameter PreferIOUring
  Engine& buffered(bool prefer_uring = false) const {
    return uring && (is_uring_forced || prefer_uring) ? *uring : *threads;
  }
};

/// Probe what works here. HIPFILE_ENGINE=uring|threads forces one; a forced io_uring that does not
/// work here is replaced by threads, with an error in the log and in `reason`.
EngineChoice choose_engines();

}  // namespace hipfile
