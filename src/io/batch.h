// SPDX-License-Identifier: MIT
//
// A batch: requests that run on the pool in any order, and the events that tell of their ends.
// Those that are one operation each are submitted to io_uring together (batch_together.cc); every
// other, and what io_uring leaves over, runs as a synchronous request does. None waits for another.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "io/plan.h"
#include "resource/buffer.h"
#include "util/fifo.h"
#include "util/mutex.h"
#include "util/slots.h"
#include "util/statistics.h"
#include "util/thread_pool.h"

namespace hipfile {

/// One request, with what keeps its file and buffer alive.
struct BatchJob {
  Hold<File> file;
  Hold<Buffer> buffer;
  Request request;
  void* cookie = nullptr;
  Plan plan;               ///< when it was submitted
  std::optional<IoOp> op;  ///< io_uring may do it as this one
};

/// The end of one request.
struct BatchEvent {
  void* cookie = nullptr;
  hipFileStatus_t status = hipFileComplete;
  Result<size_t> result = size_t{0};
};

/// Thread-safe. A request takes a slot from its submission until its event was fetched.
class Batch {
 public:
  using Clock = std::chrono::steady_clock;

  Batch(unsigned capacity, const BackendList& backends, const EngineChoice& engines,
        Statistics& statistics);
  /// close() must have returned.
  ~Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Take slots for requests that are still to be checked. False: there are not that many free.
  bool reserve(size_t count);
  void give_back(size_t count);
  /// Queue requests for which slots were reserved. Nothing is queued when memory is exhausted.
  /// @param begun_ns  Statistics::now() when the submission began
  void queue(std::vector<BatchJob> jobs, uint64_t begun_ns);

  /// Wait until `least` events are there, or as many as requests are outstanding, or the time is
  /// over; then fetch at most `most`. Without a deadline it waits without limit. Nothing: the batch
  /// was closed.
  std::optional<std::vector<BatchEvent>> fetch(size_t least, size_t most,
                                               std::optional<Clock::time_point> deadline);

  /// What has not begun will not; waits for what runs. The batch stays usable.
  void cancel();
  /// The same for good: no request is taken any more, and who waits for events is woken.
  void close();

 private:
  static constexpr size_t kNobody = SIZE_MAX;

  // What was queued by one call, until the last of it has ended.
  struct Submission {
    size_t left = 0;  // requests
    uint64_t begun_ns = 0;
    uint64_t read_bytes = 0, write_bytes = 0;
    bool is_ok = true;
  };
  // A request from its submission until its event was fetched. Made once: nothing is allocated
  // while requests run.
  struct Slot {
    BatchJob job;
    BatchEvent event;
    Submission* submission = nullptr;
    size_t moved = 0;  // bytes, by io_uring
    Slot* next = nullptr;
  };
  // What goes to io_uring at once.
  struct Together {
    std::array<Slot*, kRingEntries> slots;
    size_t count = 0;
  };
  // A task of the pool that takes one request after the other.
  struct Runner {
    Batch* batch = nullptr;
    Task task;
    bool is_active = false;
  };

  static void run_task(void* runner);
  void run_next(Runner& runner);
  void run_alone(Slot* slot);
  void start_runners(size_t wanted) HIPFILE_REQUIRES(mutex_);
  bool has_work() const HIPFILE_REQUIRES(mutex_);
  void finish(Slot* slot, const Outcome& outcome) HIPFILE_EXCLUDES(mutex_);
  void count_end(const Slot& slot) HIPFILE_REQUIRES(mutex_);
  void end(Slot* slot) HIPFILE_REQUIRES(mutex_);
  void drop(Fifo<Slot>& slots) HIPFILE_REQUIRES(mutex_);
  void drop_pending() HIPFILE_REQUIRES(mutex_);
  void wait_for_runners() HIPFILE_REQUIRES(mutex_);

  Together take_together() HIPFILE_REQUIRES(mutex_);
  void run_together(const Together& taken);
  void take_end(Slot* slot, const IoDone& done, uint64_t begun_ns);
  void leave_to_pool(Slot* slot, Fifo<Slot>& list) HIPFILE_REQUIRES(mutex_);

  const BackendList& backends_;
  const EngineChoice& engines_;
  Statistics& statistics_;
  Mutex mutex_;
  CondVar change_;
  std::vector<Slot> slots_;
  std::vector<Runner> runners_ HIPFILE_GUARDED_BY(mutex_);
  Fifo<Slot> free_ HIPFILE_GUARDED_BY(mutex_);
  Fifo<Slot> pending_ HIPFILE_GUARDED_BY(mutex_);   // each to be run alone
  Fifo<Slot> together_ HIPFILE_GUARDED_BY(mutex_);  // one operation each
  Fifo<Slot> begun_ HIPFILE_GUARDED_BY(mutex_);     // io_uring left the rest: never cancelled
  bool is_turn_of_together_ HIPFILE_GUARDED_BY(mutex_) = true;
  Fifo<Slot> ended_ HIPFILE_GUARDED_BY(mutex_);
  size_t used_ HIPFILE_GUARDED_BY(mutex_) = 0;           // slots from their submission on
  size_t reserved_ HIPFILE_GUARDED_BY(mutex_) = 0;       // slots before it
  size_t awaited_ HIPFILE_GUARDED_BY(mutex_) = kNobody;  // events for which somebody is woken
  size_t events_ HIPFILE_GUARDED_BY(mutex_) = 0;         // in ended_
  bool is_closed_ HIPFILE_GUARDED_BY(mutex_) = false;
};

}  // namespace hipfile
