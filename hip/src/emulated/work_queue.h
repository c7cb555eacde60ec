// SPDX-License-Identifier: MIT
//
// The order of work on emulated devices. A queue is one stream: its operations have numbers, run in
// their order on a worker thread of the queue's own, and an operation may first wait for places in
// other queues. Work only ever waits for work that was queued before it, so waits make no circle.
//
// One lock holds for all queues: an operation takes microseconds and more, the lock nanoseconds,
// and the rules of the null stream look at all queues of a device at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "../mutex.h"

namespace hip_portable::emulated {

class HardwareQueue;  // hazards.h
class Queue;

// An operation's place in the order. Reached when it is done.
struct Place {
  std::shared_ptr<Queue> queue;
  std::uint64_t number = 0;
};

struct Operation {
  std::function<void()> run;
  std::vector<Place> after;  // besides the order of its own queue
  std::uint64_t number = 0;
};

// How a queue stands to the others of its device: the null stream waits for all blocking ones, and
// they for it.
enum class QueueKind { kNull, kBlocking, kNonBlocking };

// All that changes is guarded by the scheduler's mutex, but for the error.
class Queue {
 public:
  Queue(int device, QueueKind kind, std::shared_ptr<HardwareQueue> hardware)
      : device_(device), kind_(kind), hardware_(std::move(hardware)) {}

  // The first error of an operation is the stream's for good.
  void keep_error(hipError_t error) {
    hipError_t none = hipSuccess;
    (void)error_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
  }
  hipError_t error() const { return error_.load(std::memory_order_acquire); }

 private:
  friend class Scheduler;

  bool is_busy() const { return done_ < submitted_; }
  bool is_next_ready() const {
    return !waiting_.empty() && !is_running_ && waiting_.front().number == done_ + 1;
  }

  const int device_;
  const QueueKind kind_;
  const std::shared_ptr<HardwareQueue> hardware_;  // null: one of its own
  std::atomic<hipError_t> error_{hipSuccess};
  std::deque<Operation> waiting_;
  std::uint64_t submitted_ = 0;     // number of the newest operation
  std::uint64_t done_ = 0;          // all up to this number are done
  std::uint64_t dropped_up_to_ = 0; // these are not begun any more
  bool is_running_ = false;
  bool has_worker_ = false;
  bool is_closed_ = false;
  CondVar work_;      // the worker waits here
  CondVar progress_;  // done_ grew
};

class Scheduler {
 public:
  std::shared_ptr<Queue> open(int device, QueueKind kind,
                              std::shared_ptr<HardwareQueue> hardware = nullptr);
  // What is queued is still done; then the worker ends.
  void close(const std::shared_ptr<Queue>& queue);

  // Queues an operation. Where nothing is before it, one that `is_short` runs at once on the
  // calling thread, which saves the switches to the worker and back.
  Place submit(const std::shared_ptr<Queue>& queue, std::function<void()> run, bool is_short,
               std::vector<Place> after = {});

  bool is_reached(const Place& place);
  // Nothing is queued; for the null stream, nothing in the blocking streams of its device either.
  bool is_idle(const std::shared_ptr<Queue>& queue);
  void wait(const Place& place);
  // Until is_idle would have been true for what is queued now.
  void wait_for_queue(const std::shared_ptr<Queue>& queue);
  // All work that is queued on a device now.
  void wait_for_device(int device);
  // Of one of its streams that are not closed.
  hipError_t error_of_device(int device);

  // From the exit handler: operations that have not begun are dropped, what runs gets two seconds.
  // Work queued later runs as ever.
  void drop_queued();
  // For operations that wait for the program: it will do nothing more for them.
  bool is_exiting() const { return is_exiting_.load(std::memory_order_acquire); }

 private:
  struct WorkerStart {
    Scheduler* scheduler;
    std::shared_ptr<Queue> queue;
  };

  // What an operation queued now must come after by the rules of the null stream.
  void collect_order(const Queue& queue, std::vector<Place>* after) const
      HIP_PORTABLE_REQUIRES(mutex_);
  bool is_done(const Place& place) const HIP_PORTABLE_REQUIRES(mutex_);
  void wait_locked(const Place& place) HIP_PORTABLE_REQUIRES(mutex_);
  void wait_for_room(Queue& queue) HIP_PORTABLE_REQUIRES(mutex_);
  void finish(Queue& queue, std::uint64_t number) HIP_PORTABLE_REQUIRES(mutex_);
  void forget(const Queue& queue) HIP_PORTABLE_REQUIRES(mutex_);

  bool start_worker(const std::shared_ptr<Queue>& queue) HIP_PORTABLE_REQUIRES(mutex_);
  static void* worker_main(void* argument);
  void work(Queue& queue);
  // Waits for the operation's turn. False if it was dropped meanwhile.
  bool begin(Queue& queue, const Operation& operation) HIP_PORTABLE_REQUIRES(mutex_);
  void run_on_this_thread(Queue& queue, Operation operation);

  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Queue>> queues_ HIP_PORTABLE_GUARDED_BY(mutex_);
  std::atomic<bool> is_exiting_{false};
};

}  // namespace hip_portable::emulated
