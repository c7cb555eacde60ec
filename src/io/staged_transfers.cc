// SPDX-License-Identifier: MIT
//
// The two directions. A gate is opened only when nothing before it can fall short any more, so that
// no byte is copied behind the end of what counts.
#include "backend/residency.h"
#include "backend/staging.h"
#include "io/staged.h"

namespace hipfile {
namespace {

// File to lane on the pool, several chunks at once; lane to device by the stream, in order.
class StagedRead : public StagedTransfer {
 public:
  StagedRead(const Request& request, const Staging& staging, ThreadPool& pool, Owner& owner)
      : StagedTransfer(request, staging, pool, owner) {}

 private:
  Staged run_file_side(size_t chunk) override {
    const Request wanted = part(chunk);
    const bool is_direct = choose_views(wanted).front().is_direct && fits_staging(wanted);
    return read_staged(wanted, is_direct, staging_.slot(chunk));
  }

  void advance() HIPFILE_REQUIRES(mutex_) override {
    while (opened_ < next_ && chunks_[opened_].is_done && !progress_.is_stopped()) open_next();
    while (next_ < count_ && !progress_.is_stopped() && has_slot(next_)) launch(next_++);
  }

  void open_next() HIPFILE_REQUIRES(mutex_) {
    const size_t chunk = opened_++;
    const Request wanted = part(chunk);
    const Staged& staged = chunks_[chunk].staged;
    progress_.note(offset_of(chunk), wanted.size, staged.size, staged.error);
    open_gate(chunk, wanted.address, staged.data, staged.size);
  }

  bool has_slot(size_t chunk) const {
    return chunk < staging_.slot_count() || was_copied(chunk - staging_.slot_count());
  }
  bool is_complete() const HIPFILE_REQUIRES(mutex_) override {
    return progress_.is_stopped() || opened_ == count_;
  }
  bool waits_for_stream() const HIPFILE_REQUIRES(mutex_) override {
    return next_ < count_ && !progress_.is_stopped();
  }

  size_t next_ HIPFILE_GUARDED_BY(mutex_) = 0;    // to be read
  size_t opened_ HIPFILE_GUARDED_BY(mutex_) = 0;  // up to here the stream may copy
};

// Device to lane by the stream, in order; lane to file on the pool. Through the direct view several
// chunks at once; through the page cache one after the other (rule 25). Never both in one request
// (rule 21): one that is off the alignment goes through the cache as a whole.
class StagedWrite : public StagedTransfer {
 public:
  StagedWrite(const Request& request, const Staging& staging, ThreadPool& pool, Owner& owner)
      : StagedTransfer(request, staging, pool, owner),
        is_direct_(is_aligned_request(request) && choose_views(request).front().is_direct) {}

 private:
  Staged run_file_side(size_t chunk) override {
    const Outcome outcome = write_staged(part(chunk), is_direct_, staging_.slot(chunk));
    return {nullptr, outcome.done, outcome.error};
  }

  void advance() HIPFILE_REQUIRES(mutex_) override {
    for (; noted_ < next_ && chunks_[noted_].is_done; ++noted_) {
      const Staged& staged = chunks_[noted_].staged;
      progress_.note(offset_of(noted_), part(noted_).size, staged.size, staged.error);
    }
    while (opened_ < count_ && !progress_.is_stopped() && has_slot(opened_)) open_next();
    while (next_ < opened_ && !progress_.is_stopped() && may_write() && was_copied(next_)) {
      launch(next_++);
    }
  }

  void open_next() HIPFILE_REQUIRES(mutex_) {
    const size_t chunk = opened_++;
    const Request wanted = part(chunk);
    open_gate(chunk, staging_.slot(chunk), wanted.address, wanted.size);
  }

  bool has_slot(size_t chunk) const HIPFILE_REQUIRES(mutex_) {
    return chunk < staging_.slot_count() || chunks_[chunk - staging_.slot_count()].is_done;
  }
  bool may_write() const HIPFILE_REQUIRES(mutex_) { return is_direct_ || in_flight_ == 0; }
  bool is_complete() const HIPFILE_REQUIRES(mutex_) override {
    return progress_.is_stopped() || noted_ == count_;
  }
  bool waits_for_stream() const HIPFILE_REQUIRES(mutex_) override {
    return next_ < opened_ && !progress_.is_stopped() && may_write();
  }

  const bool is_direct_;
  size_t opened_ HIPFILE_GUARDED_BY(mutex_) = 0;  // up to here the stream may copy
  size_t next_ HIPFILE_GUARDED_BY(mutex_) = 0;    // to be written
  size_t noted_ HIPFILE_GUARDED_BY(mutex_) = 0;   // up to here the count is known
};

}  // namespace

std::unique_ptr<StagedTransfer> make_staged_transfer(const Request& request, const Staging& staging,
                                                     ThreadPool& pool,
                                                     StagedTransfer::Owner& owner) {
  if (request.is_read()) return std::make_unique<StagedRead>(request, staging, pool, owner);
  return std::make_unique<StagedWrite>(request, staging, pool, owner);
}

}  // namespace hipfile
