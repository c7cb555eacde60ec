// SPDX-License-Identifier: MIT
//
// Requests of a batch that are one operation each go to io_uring with one system call, and end as
// the kernel ends them. The kernel is told not to wait: where it would have to (a write that
// allocates blocks, pages that are not there), it would start threads of its own, which no limit of
// ours holds. Such a request, as any that fails, runs on the pool instead, for what is left of it.
#include <algorithm>
#include <new>
#include <utility>

#include "io/batch.h"
#include "io/count.h"
#include "io/log_reasons.h"

namespace hipfile {
namespace {

// NULL where there is no ring, or no memory.
std::unique_ptr<IoQueue> open_ring(const EngineChoice& engines, size_t depth, bool is_polled) {
  try {
    auto queue = engines.uring->open_queue(static_cast<unsigned>(depth), nullptr, is_polled);
    return queue->depth() >= depth ? std::move(queue) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

// In turn with those that run alone: neither kind keeps the other from running.
Batch::Together Batch::take_together() {
  Together taken;
  const bool is_turn = std::exchange(is_turn_of_together_, !is_turn_of_together_);
  if (!is_turn && !pending_.is_empty()) return taken;
  size_t most = taken.slots.size();
  while (!together_.is_empty() && taken.count < most) {
    Slot* slot = together_.pop();
    taken.slots[taken.count++] = slot;
    most = std::min<size_t>(most, slot->job.request.options->queue_depth);
  }
  return taken;
}

void Batch::run_together(const Together& taken) {
  if (taken.count == 1) return run_alone(taken.slots[0]);
  const Request& first = taken.slots[0]->job.request;
  const auto queue = open_ring(engines_, taken.count, first.options->polls(first.size));
  if (!queue) {
    MutexLock lock(mutex_);
    for (size_t at = 0; at < taken.count; ++at) leave_to_pool(taken.slots[at], pending_);
    return;
  }
  std::array<IoOp, std::tuple_size_v<decltype(taken.slots)>> ops;
  for (size_t at = 0; at < taken.count; ++at) {
    log_plan(taken.slots[at]->job.plan);
    ops[at] = *taken.slots[at]->job.op;
    ops[at].no_wait = true;
    ops[at].tag = at;
  }
  const uint64_t begun_ns = statistics_.now();
  queue->submit_all({ops.data(), taken.count});
  statistics_.count(stats::kBatchIouringSubmit, true);
  for (size_t ended = 0; ended < taken.count; ++ended) {
    const IoDone done = queue->reap();
    take_end(taken.slots[done.tag], done, begun_ns);
  }
}

void Batch::take_end(Slot* slot, const IoDone& done, uint64_t begun_ns) {
  if (done.error != 0) {  // the ordinary path has the last word
    slot->moved = done.done;
    MutexLock lock(mutex_);
    return leave_to_pool(slot, begun_);
  }
  const Outcome outcome = Outcome::moved(done.done);
  count_request(statistics_, slot->job.plan, slot->job.request, outcome, begun_ns);
  finish(slot, outcome);
}

void Batch::leave_to_pool(Slot* slot, Fifo<Slot>& list) {
  list.push(slot);
  start_runners(1);
}

}  // namespace hipfile
