// SPDX-License-Identifier: MIT
//
// One operation in a stream of the program, from the call that queued it to the byte count.
//
// Everything that the GPU does stands in the stream when the call returns: a host function that
// reads the late values, per chunk a gate and a copy, a last gate, and a host function that stores
// the count. Pool threads do the file's side and open the gates by plain stores. So an operation
// needs no HIP call of another thread to finish, whatever the program does meanwhile (rules 9, 10).
#pragma once

#include <memory>

#include "gpu/user_stream.h"
#include "io/plan.h"
#include "io/request.h"
#include "io/staged.h"
#include "resource/buffer.h"
#include "util/slots.h"

namespace hipfile {

class StreamOps;

/// The arguments of an async call: pointers to values, which are read when the stream gets there
/// unless a flag of the stream fixes them (HIPFILE_STREAM_FIXED_*).
struct StreamArguments {
  const void* base = nullptr;
  const size_t* size = nullptr;
  const off_t* file_offset = nullptr;
  const off_t* buffer_offset = nullptr;
  ssize_t* bytes = nullptr;
  Direction direction = Direction::kRead;
  /// How a result becomes the byte count.
  ssize_t (*to_count)(const Result<size_t>&) = nullptr;

  /// The values as they are now.
  Arguments now() const { return {base, *size, *file_offset, *buffer_offset, direction}; }
};

/// What the byte count of a stream tells of a plan that ran. A direct path's errno has no place
/// there, where -1 says that a system call of the other paths failed.
Result<size_t> result_in_stream(const Outcome& outcome, const Plan& ran);

/// Kept alive by the stream until its last entry, and by whoever works for it.
class StreamOp final : public StagedTransfer::Owner, public std::enable_shared_from_this<StreamOp> {
 public:
  /// @param now     the values at the call
  /// @param request what they make of file and memory
  /// @param flags   HIPFILE_STREAM_*
  StreamOp(StreamOps& ops, const StreamArguments& arguments, const Arguments& now, unsigned flags,
           Hold<File> file, Hold<Buffer> buffer, const Request& request);
  ~StreamOp() override;

  /// Put everything into the stream. On failure nothing runs any more, no value is looked at, and
  /// what was queued is harmless.
  Status queue(const UserStream& stream);
  /// What the stream did since. False when it need not be asked again.
  bool poll();
  /// Where it was queued.
  const UserStream& stream() const { return stream_; }

 private:
  // Both are host functions: short, no HIP call, nothing that waits.
  static void begin(void* context);
  static void end(void* context);
  static void run_task(void* context);

  Status lease(const UserStream& stream);
  Status queue_entries(const UserStream& stream);
  void read_late_values();
  /// On a pool thread.
  void run();
  void transfer();
  void stage();
  StagedTransfer* staged();
  void refuse(const Error& error);
  void watch() override;
  void ended(const Outcome& outcome) override;
  void finish(const Result<size_t>& result);
  /// The plan ran, or what is left of it: the end of the operation.
  void finish_counted(const Outcome& outcome);
  void abandon();
  void open_gates();
  bool is_over() const { return staging_.gates[staging_.gate_count].is_open(); }
  /// Without an end in the stream: the poller keeps it, until nothing there knows of it.
  void let_poller_keep();
  bool is_past() HIPFILE_REQUIRES(mutex_);
  /// The stream will never go on.
  bool is_given_up() const;

  StreamOps& ops_;
  const StreamArguments arguments_;
  Arguments values_;      // fixed ones as at the call, others as at the begin
  const size_t largest_;  // size at the call
  const unsigned flags_;
  const uint64_t epoch_;
  Hold<File> file_;
  Hold<Buffer> buffer_;
  const Memory memory_;
  const BackendOptions* const options_;  // in force at the call
  UserStream stream_;                    // from queue() on

  Staging staging_;
  StagingLane* lane_ = nullptr;
  Task task_;
  bool is_begun_ = false;  // in its epoch; written before it runs
  Mutex mutex_;            // between the call and what runs; never held for long
  bool has_started_ HIPFILE_GUARDED_BY(mutex_) = false;
  bool is_abandoned_ HIPFILE_GUARDED_BY(mutex_) = false;
  bool was_reached_ HIPFILE_GUARDED_BY(mutex_) = false;  // by the stream
  bool has_no_end_ HIPFILE_GUARDED_BY(mutex_) = false;   // in the stream
  size_t copies_ = 0;                                    // queued; before has_no_end_
  ssize_t count_ = 0;
  uint64_t begun_ns_ = 0;
  Request request_;  // of the late values
  Plan plan_;
  std::unique_ptr<StagedTransfer> transfer_ HIPFILE_GUARDED_BY(mutex_);
  std::shared_ptr<StreamOp> kept_;  // by the stream
};

}  // namespace hipfile
