// SPDX-License-Identifier: MIT
//
// Batches: set-up, submission, events, end.
#include <utility>

#include "driver/driver.h"
#include "io/count.h"
#include "util/enum_number.h"

namespace hipfile {
namespace {

bool is_known(const hipFileIOParams_t& params) {
  const int opcode = number_of(params.opcode);
  return number_of(params.mode) == hipFileBatch &&
         (opcode == hipFileBatchRead || opcode == hipFileBatchWrite);
}

Arguments arguments_of(const hipFileIOParams_t& params) {
  const auto& given = params.u.batch;
  const bool is_read = number_of(params.opcode) == hipFileBatchRead;
  return {given.devPtr_base, given.size, given.file_offset, given.devPtr_offset,
          is_read ? Direction::kRead : Direction::kWrite};
}

// Slots of a batch, given back unless their requests were queued.
class Reservation {
 public:
  Reservation(Batch& batch, size_t count) : batch_(batch), count_(count) {}
  ~Reservation() { batch_.give_back(count_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  void note_queued() { count_ = 0; }

 private:
  Batch& batch_;
  size_t count_;
};

}  // namespace

// While the library is closed the limit is the one that opening it would bring.
Status Driver::set_up_batch(unsigned capacity, uint64_t* handle) {
  if (capacity == 0 || capacity > settings().size(hipFileParamPropertiesIOBatchsize)) {
    statistics_.count(stats::kBatchSetup, false);
    return Error::of(hipFileInvalidValue);
  }
  const uint64_t made =
      batches_.insert(std::make_unique<Batch>(capacity, backends_, engines_, statistics_));
  statistics_.count(stats::kBatchSetup, made != 0);
  if (made == 0) return Error::of(hipFileInternalError);
  MutexLock lock(mutex_);
  batch_handles_.insert(made);
  *handle = made;
  return Status();
}

Status Driver::submit_batch(uint64_t handle, const hipFileIOParams_t* params, unsigned count) {
  const uint64_t begun_ns = statistics_.now();
  const Status queued = queue_batch(handle, params, count, begun_ns);
  if (!queued.ok()) count_batch_submit(statistics_, false, begun_ns);
  return queued;
}

// All or nothing: slots first, since they decide before anything else is looked at.
Status Driver::queue_batch(uint64_t handle, const hipFileIOParams_t* params, unsigned count,
                           uint64_t begun_ns) {
  const Pin<Batch> batch = batches_.pin(handle);
  if (!batch || count == 0 || params == nullptr) return Error::of(hipFileInvalidValue);
  if (!batch->reserve(count)) return Error::of(hipFileBatchFull);
  Reservation reservation(*batch, count);
  std::vector<BatchJob> jobs;
  const Status checked = make_jobs(params, count, &jobs);
  if (!checked.ok()) return checked;
  count_batch_submit(statistics_, true, begun_ns);
  count_jobs(jobs);
  batch->queue(std::move(jobs), begun_ns);
  reservation.note_queued();
  return Status();
}

void Driver::count_jobs(const std::vector<BatchJob>& jobs) {
  if (!statistics_.is_on()) return;
  const size_t count = jobs.size();
  size_t reads = 0, direct = 0;
  for (const BatchJob& job : jobs) {
    reads += job.request.is_read();
    direct += job.plan.is_on_fastpath();
  }
  statistics_.count(stats::kBatchEnqueued, true, count);
  statistics_.count(stats::kBatchTotalSubmit, true, count);
  statistics_.count(stats::kBatchPosixEnqueued, true, count - direct);
  if (direct == count) statistics_.count(stats::kBatchNvfsSubmit, true);
  if (reads != 0 && reads != count) statistics_.count(stats::kBatchMixedIoSubmit, true);
}

Status Driver::make_jobs(const hipFileIOParams_t* params, unsigned count,
                         std::vector<BatchJob>* jobs) {
  if (use_count() == 0) return Error::of(hipFileInternalError);
  if (!engines_.pool->start()) return Error::of(hipFileBatchSubmitFailed);
  jobs->reserve(count);
  for (unsigned at = 0; at < count; ++at) {
    if (!is_known(params[at])) return Error::of(hipFileInvalidValue);
    Operands operands;
    const Status resolved = resolve(params[at].fh, arguments_of(params[at]), &operands);
    if (!resolved.ok()) return resolved;
    BatchJob& job = jobs->emplace_back();
    job.file = operands.file.hold();
    job.buffer = operands.buffer.hold();
    job.request = operands.request;
    job.cookie = params[at].cookie;
    job.plan = make_plan(backends_, job.request);
    if (job.plan.is_accepted()) job.op = job.plan.whole->as_one_operation(job.request);
  }
  return Status();
}

Result<std::vector<BatchEvent>> Driver::fetch_events(
    uint64_t handle, size_t least, size_t most, std::optional<Batch::Clock::time_point> deadline) {
  const Pin<Batch> batch = batches_.pin(handle);
  if (!batch) return Error::of(hipFileInvalidValue);
  if (const unsigned limit = config().batch_timeout_ms; !deadline && limit != 0) {
    deadline = Batch::Clock::now() + std::chrono::milliseconds(limit);
  }
  std::optional<std::vector<BatchEvent>> events = batch->fetch(least, most, deadline);
  if (!events) return Error::of(hipFileInvalidValue);
  return std::move(*events);
}

Status Driver::cancel_batch(uint64_t handle) {
  const Pin<Batch> batch = batches_.pin(handle);
  statistics_.count(stats::kBatchCancel, static_cast<bool>(batch));
  if (!batch) return Error::of(hipFileInvalidValue);
  batch->cancel();
  return Status();
}

void Driver::destroy_batch(uint64_t handle) {
  {
    const Pin<Batch> batch = batches_.pin(handle);
    if (!batch) return;
    batch->close();
    statistics_.count(stats::kBatchDestroy, true);
    MutexLock lock(mutex_);
    batch_handles_.erase(handle);
  }
  batches_.retire(handle);
}

void Driver::destroy_batches() {
  std::set<uint64_t> handles;
  {
    MutexLock lock(mutex_);
    handles = batch_handles_;
  }
  for (const uint64_t handle : handles) destroy_batch(handle);
}

}  // namespace hipfile
