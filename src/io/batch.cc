// SPDX-License-Identifier: MIT
//
// A runner goes back to the pool's queue after each request, or after those that it submitted
// together, so that batches and streams take turns.
#include "io/batch.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "io/count.h"
#include "io/transfer.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

constexpr unsigned kMostRunners = 64;  // the pool has no more threads than that

BatchEvent event_of(void* cookie, const Outcome& outcome) {
  const bool has_failed = outcome.failed() && outcome.done == 0;
  if (has_failed) return {cookie, hipFileFailed, outcome.error};
  return {cookie, hipFileComplete, outcome.done};
}

}  // namespace

Batch::Batch(unsigned capacity, const BackendList& backends, const EngineChoice& engines,
             Statistics& statistics)
    : backends_(backends), engines_(engines), statistics_(statistics), slots_(capacity) {
  MutexLock lock(mutex_);
  for (Slot& slot : slots_) free_.push(&slot);
  runners_.resize(std::min(capacity, kMostRunners));
  for (Runner& runner : runners_) {
    runner.batch = this;
    runner.task = {&Batch::run_task, &runner, nullptr};
  }
}

bool Batch::reserve(size_t count) {
  MutexLock lock(mutex_);
  if (is_closed_ || count > slots_.size() - used_ - reserved_) return false;
  reserved_ += count;
  return true;
}

void Batch::give_back(size_t count) {
  MutexLock lock(mutex_);
  reserved_ -= count;
}

void Batch::queue(std::vector<BatchJob> jobs, uint64_t begun_ns) {
  auto submission = std::make_unique<Submission>();
  submission->left = jobs.size();
  submission->begun_ns = begun_ns;
  size_t alone = 0;
  MutexLock lock(mutex_);
  for (BatchJob& job : jobs) {
    alone += !job.op;
    Slot* slot = free_.pop();
    slot->job = std::move(job);
    slot->submission = submission.get();
    slot->moved = 0;
    (slot->job.op ? together_ : pending_).push(slot);
  }
  (void)submission.release();  // until its last request has ended
  reserved_ -= jobs.size();
  used_ += jobs.size();
  if (is_closed_) {
    drop_pending();
  } else {
    start_runners(alone + (jobs.size() - alone + kRingEntries - 1) / kRingEntries);
  }
}

void Batch::start_runners(size_t wanted) {
  for (Runner& runner : runners_) {
    if (wanted == 0) return;
    if (runner.is_active) continue;
    runner.is_active = true;
    --wanted;
    engines_.pool->submit(runner.task);
  }
}

void Batch::run_task(void* runner) {
  auto* self = static_cast<Runner*>(runner);
  self->batch->run_next(*self);
}

bool Batch::has_work() const {
  return !begun_.is_empty() || !together_.is_empty() || !pending_.is_empty();
}

void Batch::run_next(Runner& runner) {
  Slot* slot = nullptr;
  Together taken;
  {
    MutexLock lock(mutex_);
    if (!begun_.is_empty()) {
      slot = begun_.pop();
    } else {
      taken = take_together();
      if (taken.count == 0 && !pending_.is_empty()) slot = pending_.pop();
    }
  }
  if (slot != nullptr) run_alone(slot);
  if (taken.count != 0) run_together(taken);
  MutexLock lock(mutex_);
  runner.is_active = has_work();
  if (runner.is_active) engines_.pool->submit(runner.task);
  change_.notify_all();  // under the lock: who waits for the last runner may destroy the batch
}

void Batch::run_alone(Slot* slot) {
  const BatchJob& job = slot->job;
  Outcome outcome = Outcome::moved(slot->moved);
  try {
    outcome = transfer_counted(backends_, job.request, statistics_, statistics_.now(), nullptr,
                               slot->moved);
  } catch (const std::bad_alloc&) {
    outcome.error = Error::from_errno(ENOMEM);
  }
  finish(slot, outcome);
}

void Batch::finish(Slot* slot, const Outcome& outcome) {
  slot->event = event_of(slot->job.cookie, outcome);
  const bool is_complete = slot->event.status == hipFileComplete;
  statistics_.count(stats::kBatchProcessed, is_complete);
  if (!slot->job.plan.is_on_fastpath()) statistics_.count(stats::kBatchPosixProcessed, is_complete);
  MutexLock lock(mutex_);
  end(slot);
  if (events_ < awaited_) return;
  awaited_ = kNobody;
  change_.notify_all();
}

void Batch::end(Slot* slot) {
  count_end(*slot);
  slot->job = BatchJob();  // before the event: who has it may deregister file and buffer
  ended_.push(slot);
  ++events_;
}

void Batch::count_end(const Slot& slot) {
  Submission& submission = *slot.submission;
  const Result<size_t>& result = slot.event.result;
  const uint64_t bytes = result.ok() ? result.value() : 0;
  (slot.job.request.is_read() ? submission.read_bytes : submission.write_bytes) += bytes;
  submission.is_ok &= slot.event.status == hipFileComplete;
  if (--submission.left != 0) return;
  count_batch_completion(statistics_, submission.is_ok, submission.begun_ns, submission.read_bytes,
                         submission.write_bytes);
  delete &submission;
}

std::optional<std::vector<BatchEvent>> Batch::fetch(size_t least, size_t most,
                                                    std::optional<Clock::time_point> deadline) {
  const WaitMark mark("events of a batch");
  MutexLock lock(mutex_);
  while (!is_closed_ && events_ < std::min(least, used_)) {
    awaited_ = std::min({awaited_, least, used_});
    if (!deadline) {
      change_.wait(mutex_);
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
    if (left.count() <= 0) break;
    (void)change_.wait_for(mutex_, left);
  }
  if (is_closed_) return std::nullopt;
  std::vector<BatchEvent> fetched;
  fetched.reserve(std::min(most, events_));
  while (events_ != 0 && fetched.size() < most) {
    Slot* slot = ended_.pop();
    --events_;
    --used_;
    fetched.push_back(slot->event);
    free_.push(slot);
  }
  if (!fetched.empty()) awaited_ = 0;  // others that wait may need fewer now
  return fetched;
}

// What the requests held is let go on this thread.
void Batch::drop(Fifo<Slot>& slots) {
  while (!slots.is_empty()) {
    Slot* slot = slots.pop();
    slot->event = {slot->job.cookie, hipFileCanceled, size_t{0}};
    end(slot);
  }
}

void Batch::drop_pending() {
  drop(together_);
  drop(pending_);
}

void Batch::wait_for_runners() {
  const WaitMark mark("running requests of a batch");
  const auto is_active = [](const Runner& runner) { return runner.is_active; };
  while (std::any_of(runners_.begin(), runners_.end(), is_active)) change_.wait(mutex_);
}

void Batch::cancel() {
  MutexLock lock(mutex_);
  drop_pending();
  wait_for_runners();
  change_.notify_all();
}

void Batch::close() {
  MutexLock lock(mutex_);
  is_closed_ = true;
  drop_pending();
  change_.notify_all();
  wait_for_runners();
}

}  // namespace hipfile
