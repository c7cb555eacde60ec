// SPDX-License-Identifier: MIT
//
// Two threads and a main thread around one mutex; nothing is held during a transfer.
#include "pipeline.h"

#include <deque>
#include <system_error>
#include <thread>
#include <vector>

#include "chunk_writer.h"
#include "signals.h"
#include "source_reader.h"
#include "util/mutex.h"

namespace aiscp {
namespace {

using hipfile::CondVar;
using hipfile::Mutex;
using hipfile::MutexLock;

constexpr std::chrono::milliseconds kWatchInterval{100};
constexpr std::chrono::milliseconds kPatience{500};  // of a stop, before it becomes forcible

struct Filled {
  Buffer* buffer = nullptr;
  Piece piece;
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineJob& job);

  Status run(uint64_t* end) HIPFILE_EXCLUDES(mutex_);

 private:
  /// Not joinable if the system has no thread left; then the copy has failed.
  std::thread start(void (Pipeline::*part)()) HIPFILE_EXCLUDES(mutex_);
  void read_all() HIPFILE_EXCLUDES(mutex_);
  void write_all() HIPFILE_EXCLUDES(mutex_);
  /// A buffer to read into; NULL when the copy has failed.
  Buffer* take_free() HIPFILE_EXCLUDES(mutex_);
  void give_free(Buffer* buffer) HIPFILE_EXCLUDES(mutex_);
  void hand_over(const Filled& filled) HIPFILE_EXCLUDES(mutex_);
  /// False when there is nothing more to write.
  bool take_filled(Filled* filled) HIPFILE_EXCLUDES(mutex_);
  /// The first failure counts.
  void finish(const Status& status) HIPFILE_EXCLUDES(mutex_);
  void watch() HIPFILE_EXCLUDES(mutex_);

  const PipelineJob& job_;
  SourceReader reader_;
  ChunkWriter writer_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<Buffer*> free_ HIPFILE_GUARDED_BY(mutex_);
  std::deque<Filled> filled_ HIPFILE_GUARDED_BY(mutex_);
  bool is_all_read_ HIPFILE_GUARDED_BY(mutex_) = false;
  int running_ HIPFILE_GUARDED_BY(mutex_) = 2;
  Status failure_ HIPFILE_GUARDED_BY(mutex_);
  uint64_t end_ HIPFILE_GUARDED_BY(mutex_) = 0;
};

Pipeline::Pipeline(const PipelineJob& job)
    : job_(job),
      reader_(*job.source, job.destination->way() != Way::kBlockDevice),
      writer_(*job.destination, *job.device, &job.progress->counters()) {
  for (size_t i = 0; i < job.buffers->count(); ++i) free_.push_back(job.buffers->at(i));
}

Status Pipeline::run(uint64_t* end) {
  std::thread reader = start(&Pipeline::read_all);
  std::thread writer = start(&Pipeline::write_all);
  watch();
  if (reader.joinable()) reader.join();
  if (writer.joinable()) writer.join();
  MutexLock lock(mutex_);
  *end = end_;
  return failure_;
}

std::thread Pipeline::start(void (Pipeline::*part)()) {
  try {
    return std::thread(part, this);
  } catch (const std::system_error& error) {
    finish(Status::of_errno("cannot start a thread", error.code().value()));
  }
  MutexLock lock(mutex_);
  --running_;
  return {};
}

void Pipeline::watch() {
  std::chrono::milliseconds stopping{0};
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (running_ == 0) return;
      (void)changed_.wait_for(mutex_, kWatchInterval);
      if (running_ == 0) return;
    }
    job_.progress->draw();
    if (!is_stopping()) continue;
    finish(Status::interrupted());
    stopping += kWatchInterval;
    if (stopping < kPatience) continue;
    // A thread hangs in the system. The process ends with it.
    job_.clean_up();
    die_if_stopping();
  }
}

void Pipeline::read_all() {
  block_signals_in_this_thread();
  Status status;
  while (Buffer* buffer = take_free()) {
    Filled filled{buffer, {}};
    (void)job_.device->hip().SetDevice(buffer->device);
    status = reader_.next(buffer->base, buffer->size, &filled.piece);
    if (!status.ok() || filled.piece.size == 0) {
      MutexLock lock(mutex_);
      end_ = filled.piece.offset;
      break;
    }
    hand_over(filled);
  }
  if (!status.ok()) finish(status);
  MutexLock lock(mutex_);
  is_all_read_ = true;
  --running_;
  changed_.notify_all();
}

void Pipeline::write_all() {
  block_signals_in_this_thread();
  Filled filled;
  while (take_filled(&filled)) {
    (void)job_.device->hip().SetDevice(filled.buffer->device);
    const Status status = writer_.write(*filled.buffer, filled.piece);
    if (!status.ok()) {
      finish(status);
      break;
    }
    give_free(filled.buffer);
  }
  MutexLock lock(mutex_);
  --running_;
  changed_.notify_all();
}

Buffer* Pipeline::take_free() {
  {
    MutexLock lock(mutex_);
    if (!failure_.ok()) return nullptr;
    if (!free_.empty()) {
      Buffer* buffer = free_.back();
      free_.pop_back();
      return buffer;
    }
  }
  if (Buffer* buffer = job_.buffers->grow()) return buffer;
  MutexLock lock(mutex_);
  while (free_.empty() && failure_.ok()) changed_.wait(mutex_);
  if (!failure_.ok()) return nullptr;
  Buffer* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Pipeline::give_free(Buffer* buffer) {
  MutexLock lock(mutex_);
  free_.push_back(buffer);
  changed_.notify_all();
}

void Pipeline::hand_over(const Filled& filled) {
  MutexLock lock(mutex_);
  filled_.push_back(filled);
  changed_.notify_all();
}

bool Pipeline::take_filled(Filled* filled) {
  MutexLock lock(mutex_);
  while (filled_.empty() && !is_all_read_ && failure_.ok()) changed_.wait(mutex_);
  if (filled_.empty() || !failure_.ok()) return false;
  *filled = filled_.front();
  filled_.pop_front();
  return true;
}

void Pipeline::finish(const Status& status) {
  MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = status;
  changed_.notify_all();
}

}  // namespace

Status run_pipeline(const PipelineJob& job, uint64_t* end) {
  Pipeline pipeline(job);
  return pipeline.run(end);
}

}  // namespace aiscp
