// SPDX-License-Identifier: MIT
//
// From handle and pointer to a running request. No lock is taken here, and no shared cache line is
// written but the runtime's own.
#include <cerrno>
#include <utility>

#include "driver/driver.h"
#include "io/count.h"
#include "io/describe.h"
#include "io/transfer.h"

namespace hipfile {

Result<Memory> Driver::inspect(const void* base) {
  const Result<PointerInfo> info = gpu_.query(base);
  if (!info.ok()) return info.error();
  Memory memory;
  memory.base = base;
  memory.length = info.value().bytes_left;
  memory.kind = info.value().kind;
  memory.runtime = info.value().runtime;
  memory.device = info.value().device;
  return memory;
}

// The exact base of a registered buffer, or whatever the runtime knows of the pointer. The handle
// may have been reused between the look-up and the pin: so the base is compared.
Result<Memory> Driver::resolve_memory(const void* base, Pin<Buffer>* pin) {
  if (const uint64_t handle = buffer_index_.find(base)) {
    *pin = buffers_.pin(handle);
    if (*pin && (*pin)->memory.base == base) return (*pin)->memory;
  }
  return inspect(base);
}

Status Driver::resolve(hipFileHandle_t handle, const Arguments& arguments, Operands* operands) {
  if (use_count() == 0) return Error::from_errno(EINVAL);
  operands->file = files_.pin(reinterpret_cast<uintptr_t>(handle));
  if (!operands->file) return Error::of(hipFileHandleNotRegistered);
  const Status checked = check_arguments(arguments);
  if (!checked.ok()) return checked.error();
  const Result<Memory> memory = resolve_memory(arguments.base, &operands->buffer);
  if (!memory.ok()) return memory.error();
  note_device(statistics_, memory.value());
  const Result<Request> request = make_request(arguments, *operands->file, memory.value());
  if (!request.ok()) return request.error();
  if (!request.value().is_read() && operands->file->appends_now()) {
    return Error::of(hipFileInvalidFileOpenFlag);
  }
  operands->request = request.value();
  operands->request.options = &config().backends;
  prepare(operands->request);
  return Status();
}

Result<size_t> Driver::transfer(hipFileHandle_t handle, const Arguments& arguments) {
  const uint64_t begun_ns = statistics_.now();
  Operands operands;
  const Status resolved = resolve(handle, arguments, &operands);
  if (!resolved.ok()) {
    count_without_backend(statistics_, arguments.direction, false);
    return resolved.error();
  }
  return transfer_counted(operands.request, begun_ns);
}

Result<size_t> Driver::transfer_counted(const Request& request, uint64_t begun_ns) {
  const Outcome outcome = hipfile::transfer_counted(backends_, request, statistics_, begun_ns);
  if (outcome.failed() && outcome.done == 0) return outcome.error;
  return outcome.done;  // POSIX: what was moved before a failure counts
}

Status Driver::query_path(hipFileHandle_t handle, const Arguments& arguments,
                          hipFileExtPath_t* path) {
  Operands operands;
  const Status resolved = resolve(handle, arguments, &operands);
  if (!resolved.ok()) return resolved.error();
  const Plan plan = make_plan(backends_, operands.request);
  *path = describe(plan, operands.request);
  return Status();
}

Status Driver::file_info(hipFileHandle_t handle, hipFileExtFileInfo_t* info) {
  if (use_count() == 0) return Error::from_errno(EINVAL);
  const Pin<File> file = files_.pin(reinterpret_cast<uintptr_t>(handle));
  if (!file) return Error::of(hipFileHandleNotRegistered);
  const bool has_direct = file->direct_fd(Direction::kRead) >= 0;
  (void)file->buffered_fd(Direction::kRead);
  const DirectFacts& direct = file->facts().direct;
  *info = {};
  if (has_direct) {
    info->memory_alignment = direct.memory_alignment;
    info->offset_alignment = direct.offset_alignment;
    info->write_alignment = direct.write_alignment;
    info->reads_direct = direct.reads_direct;
    info->writes_direct = direct.writes_direct;
  }
  info->view = file->view_reason();
  info->view_errno = file->view_errno();
  return Status();
}

}  // namespace hipfile
