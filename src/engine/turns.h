// SPDX-License-Identifier: MIT
//
// Buffered writes of one file, one after the other (rule 25): the kernel would let only one in, and
// the others would burn the processor until it does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "util/fifo.h"
#include "util/mutex.h"
#include "util/thread_pool.h"

namespace hipfile {

/// Tasks that run one at a time, in the order of submission, on one thread of the pool at a time.
/// Who submits does not wait, so that no thread of the pool is held by a turn that is not its own.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  explicit Turns(ThreadPool& pool) : pool_(pool), work_{&Turns::run, this} {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  void submit(Task& task) HIPFILE_EXCLUDES(mutex_);
  /// Run tasks on the calling thread if they wait for one. A thread of the pool that waits for a
  /// task calls this: all others may wait as it does (rule 31). False if there are none, or another
  /// thread runs them.
  bool help() HIPFILE_EXCLUDES(mutex_);

 private:
  static void run(void* self);
  void run_some() HIPFILE_EXCLUDES(mutex_);

  ThreadPool& pool_;
  Task work_;
  Mutex mutex_;
  Fifo<Task> waiting_ HIPFILE_GUARDED_BY(mutex_);
  std::shared_ptr<Turns> self_ HIPFILE_GUARDED_BY(mutex_);  // while work_ is queued or runs
  bool is_running_ HIPFILE_GUARDED_BY(mutex_) = false;      // tasks are
};

/// The turns of every file that is being written. Thread-safe.
class FileTurns {
 public:
  explicit FileTurns(ThreadPool& pool) : pool_(pool) {}
  FileTurns(const FileTurns&) = delete;
  FileTurns& operator=(const FileTurns&) = delete;

  /// Those of one file, by what it is and not by who opened it.
  std::shared_ptr<Turns> of(dev_t device, uint64_t inode) HIPFILE_EXCLUDES(mutex_);

 private:
  ThreadPool& pool_;
  Mutex mutex_;
  std::map<std::pair<dev_t, uint64_t>, std::weak_ptr<Turns>> turns_ HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
