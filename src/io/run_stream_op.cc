// SPDX-License-Identifier: MIT
//
// An operation that its stream reached, on a pool thread: the late values are checked, a backend is
// chosen as for a synchronous request, and bytes that bounce are staged.
#include <cerrno>
#include <new>

#include "gpu/loader.h"
#include "io/count.h"
#include "io/log_reasons.h"
#include "io/stream_op.h"
#include "io/stream_ops.h"
#include "io/transfer.h"

namespace hipfile {

Result<size_t> result_in_stream(const Outcome& outcome, const Plan& ran) {
  if (!outcome.failed() || outcome.done != 0) return outcome.done;
  const bool is_hidden = ran.is_on_fastpath() && outcome.error.sys_errno != 0;
  return is_hidden ? Error::of(hipFileInternalError) : outcome.error;
}

void StreamOp::run_task(void* context) {
  auto* op = static_cast<StreamOp*>(context);
  try {
    op->run();
  } catch (const std::bad_alloc&) {
    op->finish(Error::from_errno(ENOMEM));
  }
}

void StreamOp::run() {
  begun_ns_ = ops_.statistics().now();
  if (!is_begun_) return refuse(Error::of(hipFileDriverClosing));
  if (values_.size > largest_) return refuse(Error::of(hipFileInvalidValue));
  if (!check_arguments(values_).ok()) return refuse(Error::of(hipFileInvalidValue));
  const Result<Request> request = make_request(values_, *file_, memory_);
  if (!request.ok()) return refuse(request.error());
  request_ = request.value();
  request_.options = options_;
  transfer();
}

void StreamOp::transfer() {
  prepare(request_);
  if (request_.size == 0) {
    count_without_backend(ops_.statistics(), request_.direction, true);
    return finish(size_t{0});
  }
  const BackendList& backends = ops_.backends();
  plan_ = make_plan(backends, request_);
  log_plan(plan_);
  if (plan_.is_accepted() && plan_.whole->id() != hipFileExtBackendBounce) {
    const Outcome outcome = plan_.whole->run(request_);
    log_outcome(outcome);
    const std::optional<Plan> second = plan_retry(backends, request_, plan_, outcome);
    if (!second) return finish_counted(outcome);
    plan_ = *second;
  }
  if (!plan_.is_accepted()) return refuse(Error::of(hipFileInternalError));
  plan_.middle = nullptr;  // all of it is staged: a direct middle would need the edges in between
  stage();
}

void StreamOp::stage() {
  bool is_abandoned = false;
  StagedTransfer* transfer = nullptr;
  {
    MutexLock lock(mutex_);
    is_abandoned = is_abandoned_;
    if (!is_abandoned) {
      transfer_ = make_staged_transfer(request_, staging_, ops_.pool(), *this);
      transfer = transfer_.get();
    }
  }
  if (is_abandoned) return refuse(Error::of(hipFileInternalError));
  transfer->start();
}

StagedTransfer* StreamOp::staged() {
  MutexLock lock(mutex_);
  return transfer_.get();
}

// At exit the streams drop what they hold, and those of a device that is lost have done so.
bool StreamOp::is_given_up() const {
  return gpu::has_exit_begun() || ops_.health().is_lost(*stream_.runtime, stream_.device);
}

// What waits for a stream that is given up would wait for ever, and with it whoever closes the
// driver.
bool StreamOp::poll() {
  const bool is_hopeless = is_given_up();
  {
    MutexLock lock(mutex_);
    if (has_no_end_ && !is_hopeless) return !is_past();
    if (has_no_end_) kept_ = shared_from_this();  // for good: the stream may know of it
  }
  StagedTransfer* const transfer = staged();
  if (transfer == nullptr) return false;
  if (!is_hopeless) return transfer->poll();
  transfer->stop();
  return false;
}

void StreamOp::refuse(const Error& error) {
  count_without_backend(ops_.statistics(), arguments_.direction, false);
  finish(error);
}

void StreamOp::watch() { ops_.watch(shared_from_this()); }

void StreamOp::ended(const Outcome& outcome) {
  log_outcome(outcome);
  finish_counted(outcome);
}

void StreamOp::finish_counted(const Outcome& outcome) {
  count_request(ops_.statistics(), plan_, request_, outcome, begun_ns_);
  finish(result_in_stream(outcome, plan_));
}

// File and buffer are let go before the last gate opens: who waits for the stream may deregister
// them. Behind the gate the operation may be gone.
void StreamOp::finish(const Result<size_t>& result) {
  StreamOps& ops = ops_;
  const bool is_begun = is_begun_;
  count_ = arguments_.to_count(result);
  file_ = Hold<File>();
  buffer_ = Hold<Buffer>();
  open_gates();
  if (is_begun) ops.note_ended();
}

}  // namespace hipfile
