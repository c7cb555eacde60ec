// SPDX-License-Identifier: MIT
//
// Queues, their workers, and the waits between them.

#include "work_queue.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <utility>

#include "hazards.h"

namespace hip_portable::emulated {
namespace {

constexpr std::chrono::seconds kExitPatience{2};

bool create_detached(void* (*main)(void*), void* argument) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  (void)::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The thread inherits the mask: signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  (void)::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool is_created = ::pthread_create(&thread, &attributes, main, argument) == 0;
  if (is_created) (void)::pthread_setname_np(thread, "hip-stream");
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  (void)::pthread_attr_destroy(&attributes);
  return is_created;
}

}  // namespace

std::shared_ptr<Queue> Scheduler::open(int device, QueueKind kind,
                                       std::shared_ptr<HardwareQueue> hardware) {
  auto queue = std::make_shared<Queue>(device, kind, std::move(hardware));
  const MutexLock lock(mutex_);
  queues_.push_back(queue);
  return queue;
}

void Scheduler::close(const std::shared_ptr<Queue>& queue) {
  const MutexLock lock(mutex_);
  queue->is_closed_ = true;
  queue->work_.notify_all();
  if (!queue->has_worker_ && !queue->is_busy()) forget(*queue);
}

void Scheduler::forget(const Queue& queue) {
  const auto is_it = [&](const std::shared_ptr<Queue>& other) { return other.get() == &queue; };
  queues_.erase(std::remove_if(queues_.begin(), queues_.end(), is_it), queues_.end());
}

void Scheduler::collect_order(const Queue& queue, std::vector<Place>* after) const {
  if (queue.kind_ == QueueKind::kNonBlocking) return;
  const QueueKind wanted =
      queue.kind_ == QueueKind::kNull ? QueueKind::kBlocking : QueueKind::kNull;
  for (const std::shared_ptr<Queue>& other : queues_) {
    if (other->device_ == queue.device_ && other->kind_ == wanted && other->is_busy()) {
      after->push_back({other, other->submitted_});
    }
  }
}

bool Scheduler::is_done(const Place& place) const {
  return place.queue == nullptr || place.queue->done_ >= place.number;
}

void Scheduler::wait_locked(const Place& place) {
  while (!is_done(place)) place.queue->progress_.wait(mutex_);
}

void Scheduler::wait_for_room(Queue& queue) {
  if (queue.hardware_ == nullptr) return;
  while (queue.submitted_ - queue.done_ >= HardwareQueue::kMostOperations) {
    queue.progress_.wait(mutex_);
  }
}

Place Scheduler::submit(const std::shared_ptr<Queue>& queue, std::function<void()> run,
                        bool is_short, std::vector<Place> after) {
  Operation operation{std::move(run), {}, 0};
  Place place{queue, 0};
  {
    const MutexLock lock(mutex_);
    wait_for_room(*queue);
    place.number = queue->submitted_ + 1;
    if (queue->hardware_ != nullptr) queue->hardware_->line_up(place, &after);
    for (Place& other : after) {
      if (!is_done(other)) operation.after.push_back(std::move(other));
    }
    collect_order(*queue, &operation.after);
    const bool has_turn = !queue->is_busy() && operation.after.empty();
    const bool runs_here = (is_short && has_turn) || !start_worker(queue);
    operation.number = queue->submitted_ = place.number;
    if (!runs_here) {
      queue->waiting_.push_back(std::move(operation));
      queue->work_.notify_one();
      return place;
    }
    if (has_turn) queue->is_running_ = true;
  }
  run_on_this_thread(*queue, std::move(operation));
  return place;
}

// Also where no thread can be made: then all operations of the queue come this way, each waits for
// its turn here.
void Scheduler::run_on_this_thread(Queue& queue, Operation operation) {
  bool is_wanted = false;
  {
    const MutexLock lock(mutex_);
    while (queue.done_ + 1 < operation.number) queue.progress_.wait(mutex_);
    is_wanted = begin(queue, operation);
  }
  if (is_wanted) operation.run();
  const MutexLock lock(mutex_);
  finish(queue, operation.number);
}

bool Scheduler::begin(Queue& queue, const Operation& operation) {
  queue.is_running_ = true;
  for (const Place& place : operation.after) wait_locked(place);
  return operation.number > queue.dropped_up_to_;
}

void Scheduler::finish(Queue& queue, std::uint64_t number) {
  queue.is_running_ = false;
  queue.done_ = std::max({queue.done_, number, queue.dropped_up_to_});
  queue.progress_.notify_all();
  queue.work_.notify_one();
  if (queue.is_closed_ && !queue.has_worker_ && !queue.is_busy()) forget(queue);
}

bool Scheduler::start_worker(const std::shared_ptr<Queue>& queue) {
  if (queue->has_worker_) return true;
  auto* start = new (std::nothrow) WorkerStart{this, queue};
  if (start == nullptr) return false;
  queue->has_worker_ = create_detached(&worker_main, start);
  if (!queue->has_worker_) delete start;
  return queue->has_worker_;
}

void* Scheduler::worker_main(void* argument) {
  const std::unique_ptr<WorkerStart> start(static_cast<WorkerStart*>(argument));
  start->scheduler->work(*start->queue);
  return nullptr;
}

void Scheduler::work(Queue& queue) {
  for (;;) {
    Operation operation;
    bool is_wanted = false;
    {
      const MutexLock lock(mutex_);
      while (!queue.is_next_ready()) {
        if (queue.is_closed_ && !queue.is_busy()) {
          queue.has_worker_ = false;
          forget(queue);
          return;
        }
        queue.work_.wait(mutex_);
      }
      operation = std::move(queue.waiting_.front());
      queue.waiting_.pop_front();
      is_wanted = begin(queue, operation);
    }
    if (is_wanted) operation.run();
    operation.run = nullptr;  // what it holds is freed before anybody is told
    const MutexLock lock(mutex_);
    finish(queue, operation.number);
  }
}

bool Scheduler::is_reached(const Place& place) {
  const MutexLock lock(mutex_);
  return is_done(place);
}

bool Scheduler::is_idle(const std::shared_ptr<Queue>& queue) {
  const MutexLock lock(mutex_);
  if (queue->is_busy()) return false;
  std::vector<Place> before;
  if (queue->kind_ == QueueKind::kNull) collect_order(*queue, &before);
  return before.empty();
}

void Scheduler::wait(const Place& place) {
  const MutexLock lock(mutex_);
  wait_locked(place);
}

void Scheduler::wait_for_queue(const std::shared_ptr<Queue>& queue) {
  const MutexLock lock(mutex_);
  std::vector<Place> places{{queue, queue->submitted_}};
  if (queue->kind_ == QueueKind::kNull) collect_order(*queue, &places);
  for (const Place& place : places) wait_locked(place);
}

void Scheduler::wait_for_device(int device) {
  const MutexLock lock(mutex_);
  std::vector<Place> places;
  for (const std::shared_ptr<Queue>& queue : queues_) {
    if (queue->device_ == device && queue->is_busy()) places.push_back({queue, queue->submitted_});
  }
  for (const Place& place : places) wait_locked(place);
}

hipError_t Scheduler::error_of_device(int device) {
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<Queue>& queue : queues_) {
    const bool counts = queue->device_ == device && !queue->is_closed_;
    if (counts && queue->error() != hipSuccess) return queue->error();
  }
  return hipSuccess;
}

void Scheduler::drop_queued() {
  const auto deadline = std::chrono::system_clock::now() + kExitPatience;
  std::deque<Operation> dropped;  // freed after the lock
  const MutexLock lock(mutex_);
  const std::vector<std::shared_ptr<Queue>> all = queues_;
  for (const std::shared_ptr<Queue>& queue : all) {
    for (Operation& operation : queue->waiting_) dropped.push_back(std::move(operation));
    queue->waiting_.clear();
    queue->dropped_up_to_ = queue->submitted_;
    if (!queue->is_running_) finish(*queue, queue->submitted_);
  }
  // Not earlier: what stands behind a wait must be gone when the wait is over.
  is_exiting_.store(true, std::memory_order_release);
  for (const std::shared_ptr<Queue>& queue : all) {
    const Place place{queue, queue->dropped_up_to_};
    while (!is_done(place) && std::chrono::system_clock::now() < deadline) {
      queue->progress_.wait_until(mutex_, deadline);
    }
  }
}

}  // namespace hip_portable::emulated
