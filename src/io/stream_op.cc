// SPDX-License-Identifier: MIT
//
// Queueing an operation, and its end. What runs between is in run_stream_op.cc.
#include "io/stream_op.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "io/log_reasons.h"
#include "io/stream_ops.h"
#include "util/watchdog.h"

namespace hipfile {

namespace {

// Of a device that is lost nothing can be pinned either.
Status exhausted(const UserStream& stream, size_t bytes) {
  const Status answer = ask_device(*stream.runtime, stream.device);
  if (!answer.ok()) return answer;
  log_unpinned(bytes);
  return Error::from_hip(hipErrorOutOfMemory);
}

}  // namespace

StreamOp::StreamOp(StreamOps& ops, const StreamArguments& arguments, const Arguments& now,
                   unsigned flags, Hold<File> file, Hold<Buffer> buffer, const Request& request)
    : ops_(ops),
      arguments_(arguments),
      values_(now),
      largest_(now.size),
      flags_(flags),
      epoch_(ops.epoch()),
      file_(std::move(file)),
      buffer_(std::move(buffer)),
      memory_(request.memory),
      options_(request.options) {
  task_ = {&StreamOp::run_task, this, nullptr};
  ops_.note_queued();
}

StreamOp::~StreamOp() {
  ops_.memory().give_back(lane_);
  // Without an end nobody knows when the stream is through the last gate: the gates stay.
  if (!has_no_end_) ops_.memory().give_back(staging_.gates, staging_.gate_count + 1);
  ops_.note_gone();
}

// Only device memory is staged. The largest request that can come of the call decides.
Status StreamOp::lease(const UserStream& stream) {
  if (memory_.is_device()) {
    const size_t size = std::min(largest_, kMaxTransfer);
    staging_.chunk_size = staged_chunk_size(size);
    staging_.gate_count = (size + staging_.chunk_size - 1) / staging_.chunk_size;
    lane_ = ops_.memory().lease_lane(stream, staging_.slot_size());
    if (lane_ == nullptr) return exhausted(stream, staging_.slot_size());
    staging_.lane = lane_->data();
    staging_.lane_size = lane_->size();
  }
  staging_.gates = ops_.memory().take_gates(staging_.gate_count + 1);
  if (staging_.gates == nullptr) {
    return exhausted(stream, sizeof(StreamGate) * (staging_.gate_count + 1));
  }
  return ops_.start_threads() ? Status() : Error::from_hip(hipErrorOutOfMemory);
}

Status StreamOp::queue(const UserStream& stream) {
  stream_ = stream;
  const Status leased = lease(stream);
  if (!leased.ok()) return leased;
  *arguments_.bytes = 0;
  kept_ = shared_from_this();
  const std::shared_ptr<StreamOp> alive = kept_;
  return queue_entries(stream);
}

// The operation may run, and end, while the entries behind its begin are still being queued: a call
// here can block until the stream has drained, and the gates must open meanwhile.
Status StreamOp::queue_entries(const UserStream& stream) {
  for (size_t at = 0; at < staging_.gate_count; ++at) {
    staging_.gates[at].copy.flag = &staging_.gates[at].copied;
    staging_.gates[at].copy.flag_value = 1;
  }
  StreamQueue queue(stream);
  Status status = queue.host_function(&StreamOp::begin, this);
  if (!status.ok()) {
    kept_.reset();  // no entry knows of it
    return status;
  }
  for (size_t at = 0; status.ok() && at <= staging_.gate_count; ++at) {
    StreamGate& gate = staging_.gates[at];
    status = queue.wait_until(&gate.ready, 1);
    if (!status.ok() || at == staging_.gate_count) break;
    status = queue.late_bound_copy(&gate.copy);
    copies_ += status.ok();
  }
  if (!status.ok()) abandon();
  const Status ended = queue.host_function(&StreamOp::end, this);
  if (ended.ok()) return status;
  if (status.ok()) abandon();
  let_poller_keep();
  return status.ok() ? ended : status;
}

// The stream goes through the gates and copies nothing more. An operation that runs already is
// waited for: no further step of it is the stream's, and the caller may free its memory next.
void StreamOp::abandon() {
  StagedTransfer* running = nullptr;
  bool has_started = false;
  {
    MutexLock lock(mutex_);
    is_abandoned_ = true;
    has_started = has_started_;
    running = transfer_.get();
  }
  if (!has_started) {
    file_ = Hold<File>();
    buffer_ = Hold<Buffer>();
    return open_gates();
  }
  if (running != nullptr) running->stop();
  const WaitMark mark("an operation that could not be queued");
  while (!is_over()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void StreamOp::let_poller_keep() {
  {
    MutexLock lock(mutex_);
    has_no_end_ = true;
  }
  ops_.watch(std::move(kept_));
}

// The begin was there, and the copies that it may have given something to do.
bool StreamOp::is_past() {
  return was_reached_ && is_over() && (copies_ == 0 || staging_.gates[copies_ - 1].was_copied());
}

void StreamOp::open_gates() {
  StreamGate* gates = staging_.gates;
  const size_t last = staging_.gate_count;
  for (size_t at = 0; at < last; ++at) {
    if (gates[at].is_open()) continue;
    gates[at].copy.size = 0;
    gates[at].open();
  }
  gates[last].open();  // nothing is touched after this
}

void StreamOp::begin(void* context) {
  auto* op = static_cast<StreamOp*>(context);
  {
    // The pointers are the program's only as long as the call did not fail.
    MutexLock lock(op->mutex_);
    op->was_reached_ = true;
    if (op->is_abandoned_) return;
    op->has_started_ = true;
    op->read_late_values();
  }
  op->is_begun_ = op->ops_.begin(op->epoch_);
  op->ops_.pool().submit(op->task_);
}

void StreamOp::read_late_values() {
  const Arguments late = arguments_.now();
  if ((flags_ & HIPFILE_STREAM_FIXED_FILE_SIZE) == 0) values_.size = late.size;
  if ((flags_ & HIPFILE_STREAM_FIXED_FILE_OFFSET) == 0) values_.file_offset = late.file_offset;
  if ((flags_ & HIPFILE_STREAM_FIXED_BUF_OFFSET) == 0) values_.buffer_offset = late.buffer_offset;
}

void StreamOp::end(void* context) {
  const std::shared_ptr<StreamOp> op = std::move(static_cast<StreamOp*>(context)->kept_);
  MutexLock lock(op->mutex_);
  if (!op->is_abandoned_) *op->arguments_.bytes = op->count_;
}

}  // namespace hipfile
