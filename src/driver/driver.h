// SPDX-License-Identifier: MIT
//
// The root object: use count, the tables of files and buffers, and the parts that move bytes. Every
// entry point of the C interface is one call of it.
#pragma once

#include <hipfile_ext.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "driver/address_index.h"
#include "driver/configuration.h"
#include "engine/engine.h"
#include "gpu/gpu.h"
#include "gpu/pinned_ring.h"
#include "io/batch.h"
#include "io/plan.h"
#include "io/request.h"
#include "io/stream_op.h"
#include "io/stream_ops.h"
#include "resource/buffer.h"
#include "resource/file.h"
#include "util/fork_guard.h"
#include "util/mutex.h"
#include "util/result.h"
#include "util/slots.h"
#include "util/statistics.h"

namespace hipfile {

/// Thread-safe. Nothing on the I/O path takes its mutex or writes a shared cache line: handles
/// index slots that are pinned per thread, and the address index is read under a sequence counter.
class Driver {
 public:
  /// @param base what holds where the program sets no parameter
  explicit Driver(const Settings& base, EngineChoice engines = choose_engines());
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Use count + 1.
  Status open();
  /// Use count - 1; at 0 drops all files and buffers and waits for the operations that run.
  /// hipFileDriverNotInitialized if it was 0.
  Status close();
  int64_t use_count() const { return use_count_.load(std::memory_order_acquire); }
  /// True in a child of fork that inherited this object.
  bool is_inherited() const { return fork_guard_.in_child_of_fork(); }

  Status register_file(int fd, hipFileHandle_t* handle);
  /// False if there was no such handle.
  bool deregister_file(hipFileHandle_t handle);
  Status register_buffer(const void* base, size_t length);
  Status deregister_buffer(const void* base);

  /// hipFileRead and hipFileWrite: bytes moved, or what stopped it before the first.
  Result<size_t> transfer(hipFileHandle_t handle, const Arguments& arguments);

  /// What a Get answers: in force while open, else staged, else the base. hipFileInvalidValue for
  /// an id that is none.
  Result<Value> get_parameter(ParameterKind kind, int id);
  /// Stage a value for the next open. hipFileDriverAlreadyOpen while open; hipFileInvalidValue if
  /// it does not fit.
  Status set_parameter(ParameterKind kind, int id, Value value);
  /// Binds the runtime, to say whether it has a direct path.
  hipFileDriverProps_t properties();
  /// The configuration in force: one load, and valid for ever.
  const Config& config() const { return configuration_.in_force(); }

  /// hipFileStreamRegister and hipFileStreamDeregister. Registrations survive close().
  Status register_stream(hipStream_t stream, unsigned flags);
  Status deregister_stream(hipStream_t stream);
  /// hipFileReadAsync and hipFileWriteAsync: queued in the stream, or what stands against it.
  Status transfer_async(hipFileHandle_t handle, const StreamArguments& arguments,
                        hipStream_t stream);

  /// The batch calls. A batch may be set up while the library is closed, and ends with close().
  Status set_up_batch(unsigned capacity, uint64_t* handle);
  Status submit_batch(uint64_t handle, const hipFileIOParams_t* params, unsigned count);
  Result<std::vector<BatchEvent>> fetch_events(uint64_t handle, size_t least, size_t most,
                                               std::optional<Batch::Clock::time_point> deadline);
  Status cancel_batch(uint64_t handle);
  void destroy_batch(uint64_t handle);

  /// The answers of hipfile_ext.h.
  Status query_path(hipFileHandle_t handle, const Arguments& arguments, hipFileExtPath_t* path);
  Status file_info(hipFileHandle_t handle, hipFileExtFileInfo_t* info);
  const EngineChoice& engines() const { return engines_; }
  Statistics& statistics() { return statistics_; }

 private:
  /// What a call works on; its pins keep file and buffer alive.
  struct Operands {
    Pin<File> file;
    Pin<Buffer> buffer;
    Request request;
  };
  Status resolve(hipFileHandle_t handle, const Arguments& arguments, Operands* operands);
  Status queue_or_run(const StreamArguments& arguments, const Arguments& now,
                      const UserStream& stream, Operands operands);
  Result<size_t> run_now(const StreamArguments& arguments, const Arguments& now,
                         const Operands& operands);
  Result<size_t> transfer_counted(const Request& request, uint64_t begun_ns);
  Result<Memory> resolve_memory(const void* base, Pin<Buffer>* pin);
  Result<Memory> inspect(const void* base);
  Status insert_file(std::unique_ptr<File> file, uint64_t stale, hipFileHandle_t* handle);
  Status insert_buffer(std::unique_ptr<Buffer> buffer);
  Status make_jobs(const hipFileIOParams_t* params, unsigned count, std::vector<BatchJob>* jobs);
  Status queue_batch(uint64_t handle, const hipFileIOParams_t* params, unsigned count,
                     uint64_t begun_ns);
  void count_jobs(const std::vector<BatchJob>& jobs);
  void destroy_batches();
  /// True if it was closed; then apply_configuration() follows, without the lock.
  bool open_if_closed() HIPFILE_REQUIRES(mutex_);
  Status open_once() HIPFILE_EXCLUDES(mutex_);
  void apply_configuration() HIPFILE_EXCLUDES(mutex_);
  void retire_buffers(const std::vector<uint64_t>& handles);
  Settings settings() HIPFILE_EXCLUDES(mutex_);

  const ForkGuard fork_guard_;
  Configuration configuration_;  // changed under mutex_
  Statistics statistics_;
  EngineChoice engines_;
  Gpu gpu_;
  PinnedRing& ring_;  // leaked: threads that outlive a driver give their small slots back to it
  const BackendList backends_;
  StreamMemory& stream_memory_;  // leaked, as is what follows: streams reach operations any time
  StreamOps& stream_ops_;

  std::atomic<int64_t> use_count_{0};
  SlotArray<File> files_;
  SlotArray<Buffer> buffers_;
  AddressIndex buffer_index_;  // writers hold mutex_
  AddressIndex stream_index_;  // likewise; the values are flags
  SlotArray<Batch> batches_;
  Mutex mutex_;                // never held across a system call or a GPU call
  Mutex applying_;             // of opening and closing threads alone; taken before mutex_
  std::map<int, uint64_t> file_by_fd_ HIPFILE_GUARDED_BY(mutex_);
  std::set<uint64_t> batch_handles_ HIPFILE_GUARDED_BY(mutex_);
  std::set<const void*> bases_ HIPFILE_GUARDED_BY(mutex_);
};

}  // namespace hipfile
