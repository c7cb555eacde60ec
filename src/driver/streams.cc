// SPDX-License-Identifier: MIT
//
// Streams: registration, and the calls that queue an operation.
#include <algorithm>
#include <memory>
#include <utility>

#include "driver/driver.h"
#include "io/log_reasons.h"
#include "io/stream_op.h"
#include "io/transfer.h"

namespace hipfile {
namespace {

// The index knows no null address.
const void* key_of_stream(hipStream_t stream) {
  static const char null_stream = 0;
  const bool is_null = stream == nullptr || stream == hipStreamLegacy;
  return is_null ? static_cast<const void*>(&null_stream) : stream;
}

// A value of 0 means "not there".
constexpr uint64_t kRegistered = uint64_t{1} << 32;

bool has_null(const StreamArguments& arguments) {
  return arguments.base == nullptr || arguments.size == nullptr ||
         arguments.file_offset == nullptr || arguments.buffer_offset == nullptr ||
         arguments.bytes == nullptr;
}

}  // namespace

Status Driver::register_stream(hipStream_t stream, unsigned flags) {
  if ((flags & ~unsigned{HIPFILE_STREAM_FLAGS_MASK}) != 0) return Error::of(hipFileInvalidValue);
  const Result<const gpu::Runtime*> runtime = gpu::bind();
  if (!runtime.ok()) return runtime.error();
  const Result<UserStream> found = find_stream(runtime.value(), stream);
  if (!found.ok()) return found.error();
  MutexLock lock(mutex_);
  if (stream_index_.find(key_of_stream(stream)) != 0) return Error::of(hipFileInvalidValue);
  const bool is_stored = stream_index_.insert(key_of_stream(stream), kRegistered | flags);
  return is_stored ? Status() : Error::of(hipFileInternalError);
}

Status Driver::deregister_stream(hipStream_t stream) {
  MutexLock lock(mutex_);
  if (stream_index_.find(key_of_stream(stream)) == 0) return Error::of(hipFileInvalidValue);
  stream_index_.erase(key_of_stream(stream));
  return Status();
}

Status Driver::open_once() {
  if (gpu::has_left_runtimes()) return Error::of(hipFileDriverClosing);
  bool is_first = false;
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();
  }
  if (is_first) apply_configuration();
  return Status();
}

// The order of the checks is the specification's (5.2).
Status Driver::transfer_async(hipFileHandle_t handle, const StreamArguments& arguments,
                              hipStream_t stream) {
  if (use_count() == 0) {
    const Status opened = open_once();
    return opened.ok() ? Error::of(hipFileInvalidValue) : opened.error();
  }
  if (has_null(arguments)) return Error::of(hipFileInvalidValue);
  const Arguments now = arguments.now();
  Operands operands;
  const Status resolved = resolve(handle, now, &operands);
  if (!resolved.ok()) return resolved;
  const Memory& memory = operands.request.memory;
  const Result<UserStream> found = find_stream(memory.runtime, stream);
  if (!found.ok()) return found.error();
  const bool has_device = memory.is_device() || memory.kind == MemoryKind::kManaged;
  if (has_device && memory.device != found.value().device) return Error::of(hipFileInvalidValue);
  if (now.size == 0) {
    *arguments.bytes = 0;
    return Status();
  }
  const Result<bool> capturing = is_capturing(found.value());
  if (!capturing.ok()) return capturing.error();
  if (capturing.value()) return Error::of(hipFileAsyncNotSupported);
  return queue_or_run(arguments, now, found.value(), std::move(operands));
}

// Where nothing can be queued, the call waits for the stream and does the work itself. At exit a
// stream stands still for ever where it waits for what the program does no more.
Status Driver::queue_or_run(const StreamArguments& arguments, const Arguments& now,
                            const UserStream& stream, Operands operands) {
  const bool is_exiting = gpu::has_exit_begun();
  if (is_exiting && !is_idle(stream)) return Error::of(hipFileDriverClosing);
  const bool may_queue =
      !is_exiting && !config().bypasses_memops && stream.runtime == gpu::first_bound();
  const char* lack = may_queue ? lack_of_streams(*stream.runtime, stream.device) : nullptr;
  if (lack != nullptr) log_blocking(lack);
  if (may_queue && lack == nullptr) {
    const auto flags = static_cast<unsigned>(stream_index_.find(key_of_stream(stream.stream)));
    const auto op =
        std::make_shared<StreamOp>(stream_ops_, arguments, now, flags, operands.file.hold(),
                                   operands.buffer.hold(), operands.request);
    return op->queue(stream);
  }
  *arguments.bytes = 0;
  const Status reached = synchronize(stream);
  if (!reached.ok()) return reached;
  *arguments.bytes = arguments.to_count(run_now(arguments, now, operands));
  return Status();
}

Result<size_t> Driver::run_now(const StreamArguments& arguments, const Arguments& now,
                               const Operands& operands) {
  const Arguments late = arguments.now();
  const bool is_valid = late.size <= now.size && check_arguments(late).ok();
  if (!is_valid) return Error::of(hipFileInvalidValue);
  Result<Request> request = make_request(late, *operands.file, operands.request.memory);
  if (!request.ok()) return request.error();
  request.value().options = operands.request.options;
  prepare(request.value());
  Plan ran;
  const Outcome outcome =
      hipfile::transfer_counted(backends_, request.value(), statistics_, statistics_.now(), &ran);
  return result_in_stream(outcome, ran);
}

}  // namespace hipfile
