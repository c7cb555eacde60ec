// SPDX-License-Identifier: MIT
//
// Life of the library: use count, registration, closing.
#include "driver/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backend/bounce.h"
#include "backend/fastpath.h"
#include "backend/host.h"
#include "io/count.h"
#include "gpu/user_stream.h"
#include "resource/record_locks.h"
#include "util/arith.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

// Generations begin at a number of the process, so that a child of fork, whose driver is a fresh
// one, does not take a handle of its parent for its own.
uint32_t first_generation() { return (static_cast<uint32_t>(getpid()) * 2654435761u) >> 1 | 1u; }

// A handle of one kind is none of another.
constexpr uint8_t kFileHandles = 1, kBufferHandles = 2, kBatchHandles = 3;

hipFileHandle_t to_handle(uint64_t value) {
  return reinterpret_cast<hipFileHandle_t>(static_cast<uintptr_t>(value));
}
uint64_t to_value(hipFileHandle_t handle) { return reinterpret_cast<uintptr_t>(handle); }

BackendList make_backends(Gpu& gpu, PinnedRing& ring, const EngineChoice& engines) {
  BackendList list;
  list.push_back(std::make_unique<Fastpath>(gpu));
  list.push_back(std::make_unique<Host>(engines));
  list.push_back(std::make_unique<Bounce>(gpu, ring, engines));
  return list;
}

}  // namespace

Driver::Driver(const Settings& base, EngineChoice engines)
    : configuration_(base),
      statistics_(static_cast<unsigned>(config().stats_level)),
      engines_(std::move(engines)),
      ring_(*new PinnedRing(gpu_, ring_limit())),
      backends_(make_backends(gpu_, ring_, engines_)),
      stream_memory_(*new StreamMemory(gpu_, ring_limit())),
      stream_ops_(*new StreamOps(backends_, *engines_.stream_pool, stream_memory_, statistics_)),
      files_(kFileHandles, first_generation()),
      buffers_(kBufferHandles, first_generation()),
      batches_(kBatchHandles, first_generation()) {}

bool Driver::open_if_closed() {
  if (use_count_.load(std::memory_order_relaxed) != 0) return false;
  configuration_.open();
  use_count_.store(1, std::memory_order_release);
  return true;
}

Status Driver::open() {
  if (gpu::has_left_runtimes()) return Error::of(hipFileDriverClosing);
  bool is_first = false;
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();
    if (!is_first) use_count_.fetch_add(1, std::memory_order_acq_rel);
  }
  if (is_first) apply_configuration();
  return Status();
}

// At exit what runs may hang for ever, and has been waited for.
Status Driver::close() {
  if (gpu::has_left_runtimes()) return Error::of(hipFileDriverClosing);
  // It would wait for what cannot go on before it returns (rule 34).
  if (ThreadPool::is_worker() || is_in_host_function()) return Error::of(hipFileDriverClosing);
  std::map<int, uint64_t> files;
  std::set<const void*> bases;
  std::vector<uint64_t> buffers;
  {
    MutexLock lock(mutex_);
    const int64_t count = use_count_.load(std::memory_order_relaxed);
    if (count == 0) return Error::of(hipFileDriverNotInitialized);
    use_count_.store(count - 1, std::memory_order_release);
    if (count > 1) return Status();
    configuration_.close();
    files.swap(file_by_fd_);
    bases.swap(bases_);
    for (const void* base : bases) {
      buffers.push_back(buffer_index_.find(base));
      buffer_index_.erase(base);
    }
  }
  destroy_batches();
  stream_ops_.close();
  for (const auto& [fd, handle] : files) files_.retire(handle);
  retire_buffers(buffers);
  const WaitMark mark("operations that run while the driver closes");
  files_.wait_idle();
  buffers_.wait_idle();
  if (!stream_ops_.has_queued()) {  // unregistering would wait for the streams (rule 9)
    ring_.trim();
    stream_memory_.trim();
  }
  sweep_parked();
  apply_configuration();
  return Status();
}

void Driver::retire_buffers(const std::vector<uint64_t>& handles) {
  for (const uint64_t handle : handles) {
    if (const Pin<Buffer> buffer = buffers_.pin(handle)) {
      count_released(statistics_, buffer->memory);
    }
    buffers_.retire(handle);
  }
}

// Identity is the client's number; a number that was closed and used again for another file takes
// the place of the stale entry.
Status Driver::register_file(int fd, hipFileHandle_t* handle) {
  if (gpu::has_left_runtimes()) return Error::of(hipFileDriverClosing);
  Result<std::unique_ptr<File>> file = File::open(fd);
  if (!file.ok()) return file.error();
  sweep_parked();
  uint64_t known = 0;
  bool is_first = false;
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();
    const auto found = file_by_fd_.find(fd);
    if (found != file_by_fd_.end()) known = found->second;
  }
  if (is_first) apply_configuration();
  if (const Pin<File> old = files_.pin(known)) {
    if (old->is_still_client_fd()) return Error::of(hipFileHandleAlreadyRegistered);
  }
  return insert_file(std::move(file.value()), known, handle);
}

Status Driver::insert_file(std::unique_ptr<File> file, uint64_t stale, hipFileHandle_t* handle) {
  const int fd = file->client_fd();
  const uint64_t fresh = files_.insert(std::move(file));
  if (fresh == 0) return Error::of(hipFileInternalError);
  bool is_taken = false;
  bool is_first = false;  // closed by another thread meanwhile
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();
    uint64_t& entry = file_by_fd_[fd];
    is_taken = entry != 0 && entry != stale;  // another thread was faster
    if (!is_taken) entry = fresh;
  }
  if (is_first) apply_configuration();
  files_.retire(is_taken ? fresh : stale);
  if (is_taken) return Error::of(hipFileHandleAlreadyRegistered);
  *handle = to_handle(fresh);
  return Status();
}

bool Driver::deregister_file(hipFileHandle_t handle) {
  const uint64_t value = to_value(handle);
  {
    const Pin<File> file = files_.pin(value);
    if (!file) return false;
    MutexLock lock(mutex_);
    const auto found = file_by_fd_.find(file->client_fd());
    if (found == file_by_fd_.end() || found->second != value) return false;
    file_by_fd_.erase(found);
  }
  files_.retire(value);
  sweep_parked();
  return true;
}

Status Driver::register_buffer(const void* base, size_t length) {
  if (gpu::has_left_runtimes()) return Error::of(hipFileDriverClosing);
  bool is_first = false;
  bool is_known = false;
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();  // even when it then fails
    is_known = buffer_index_.find(base) != 0;
  }
  if (is_first) apply_configuration();
  if (base == nullptr) return Error::of(hipFileInvalidValue);
  if (is_known) return Error::of(hipFileMemoryAlreadyRegistered);
  const Result<Memory> memory = inspect(base);
  if (!memory.ok()) {
    const hipError_t hip = memory.error().hip;
    const bool is_unknown = hip == hipErrorInvalidValue || hip == hipErrorNotFound;
    return is_unknown ? Error::of(hipFileInvalidValue) : memory.error();
  }
  const bool wraps = add_overflows(reinterpret_cast<uintptr_t>(base), length);
  note_device(statistics_, memory.value());
  if (wraps || length > memory.value().length) {
    count_registered(statistics_, memory.value(), false);
    return Error::of(hipFileHipPointerRangeError);
  }
  auto buffer = std::make_unique<Buffer>();
  buffer->memory = memory.value();
  buffer->memory.length = length;
  return insert_buffer(std::move(buffer));
}

Status Driver::insert_buffer(std::unique_ptr<Buffer> buffer) {
  const Memory memory = buffer->memory;
  const void* base = memory.base;
  const uint64_t handle = buffers_.insert(std::move(buffer));
  if (handle == 0) return Error::of(hipFileInternalError);
  bool is_taken = false;
  bool is_stored = false;
  bool is_first = false;  // closed by another thread meanwhile
  {
    MutexLock lock(mutex_);
    is_first = open_if_closed();
    is_taken = buffer_index_.find(base) != 0;
    if (!is_taken) {
      bases_.insert(base);
      is_stored = buffer_index_.insert(base, handle);
      if (!is_stored) bases_.erase(base);
    }
  }
  if (is_first) apply_configuration();
  count_registered(statistics_, memory, is_stored);
  if (is_stored) return Status();
  buffers_.retire(handle);
  return Error::of(is_taken ? hipFileMemoryAlreadyRegistered : hipFileInternalError);
}

Status Driver::deregister_buffer(const void* base) {
  MutexLock lock(mutex_);
  if (use_count_.load(std::memory_order_relaxed) == 0) return Error::of(hipFileDriverClosing);
  const uint64_t handle = buffer_index_.find(base);
  if (handle == 0) return Error::of(hipFileMemoryNotRegistered);
  Memory memory;
  if (const Pin<Buffer> buffer = buffers_.pin(handle)) memory = buffer->memory;
  if (buffers_.retire_if_idle(handle) == SlotArray<Buffer>::Retired::kInUse) {
    return Error::of(hipFileInternalError);
  }
  buffer_index_.erase(base);
  bases_.erase(base);
  count_released(statistics_, memory);
  return Status();
}

}  // namespace hipfile
