// SPDX-License-Identifier: MIT
//
// One ring per thread, made at first use and kept (rule 24): setting one up costs more than a small
// read. A child of fork never touches a ring of its parent, whose memory it shares. A thread that
// cannot have a ring (descriptors exhausted) gets the plain calls instead, one after the other.
#include "engine/uring.h"

#include <liburing.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <vector>

#include "engine/transfer_loop.h"
#include "util/fork_guard.h"

namespace hipfile {
namespace {

constexpr unsigned kRingEntries = 64;

class ThreadRing {
 public:
  ThreadRing() : is_ready_(io_uring_queue_init(kRingEntries, &ring_, 0) == 0) {}
  ~ThreadRing() {
    if (is_ready_ && !guard_.in_child_of_fork()) io_uring_queue_exit(&ring_);
  }
  ThreadRing(const ThreadRing&) = delete;
  ThreadRing& operator=(const ThreadRing&) = delete;

  io_uring* get() { return is_ready_ && !guard_.in_child_of_fork() ? &ring_ : nullptr; }

 private:
  ForkGuard guard_;
  io_uring ring_ = {};
  bool is_ready_;
};

ThreadRing& thread_ring() {
  thread_local std::unique_ptr<ThreadRing> ring;
  if (!ring || (ring->get() == nullptr)) ring = std::make_unique<ThreadRing>();
  return *ring;
}

class UringQueue : public IoQueue {
 public:
  UringQueue(io_uring* ring, unsigned depth) : ring_(ring), slots_(std::min(depth, kRingEntries)) {
    for (unsigned at = 0; at < slots_.size(); ++at) free_.push_back(at);
  }
  ~UringQueue() override {
    while (in_flight_ != 0) reap();
  }

  void submit(const IoOp& op) override {
    const unsigned at = free_.back();
    free_.pop_back();
    slots_[at].op = op;
    slots_[at].state = IoDone();
    slots_[at].state.tag = op.tag;
    ++in_flight_;
    start(at);
  }

  IoDone reap() override {
    for (;;) {
      unsigned at = 0;
      const ssize_t result = next_result(&at);
      Slot& slot = slots_[at];
      if (account(slot.op, result, &slot.state) == NextStep::kContinue) {
        start(at);
        continue;
      }
      free_.push_back(at);
      --in_flight_;
      return slot.state;
    }
  }

  unsigned depth() const override { return static_cast<unsigned>(slots_.size()); }

 private:
  struct Slot {
    IoOp op;
    IoDone state;
  };

  // Queue what is left of an operation and tell the kernel. If it will not take it (EAGAIN or EBUSY
  // for want of memory), the calling thread runs it.
  void start(unsigned at) {
    const IoOp rest = rest_of(slots_[at].op, slots_[at].state.done);
    io_uring_sqe* entry = io_uring_get_sqe(ring_);
    if (entry == nullptr) return run_here(at, rest);
    const auto size = static_cast<unsigned>(std::min<size_t>(rest.size, 1u << 30));
    const auto offset = static_cast<uint64_t>(rest.offset);
    if (rest.is_write) {
      io_uring_prep_write(entry, rest.fd, rest.data, size, offset);
    } else {
      io_uring_prep_read(entry, rest.fd, rest.data, size, offset);
    }
    io_uring_sqe_set_data64(entry, at);
    int accepted = 0;
    do {
      accepted = io_uring_submit(ring_);
    } while (accepted == -EINTR);
    if (accepted >= 1) return;
    io_uring_prep_nop(entry);  // it stays queued, and goes out harmlessly with the next submit
    io_uring_sqe_set_data64(entry, kIgnored);
    run_here(at, rest);
  }

  void run_here(unsigned at, const IoOp& rest) {
    const IoDone done = transfer_fully(rest);
    local_.push_back(
        {at, done.error != 0 && done.done == 0 ? -done.error : static_cast<ssize_t>(done.done)});
  }

  ssize_t next_result(unsigned* at) {
    if (!local_.empty()) {
      const Local local = local_.front();
      local_.pop_front();
      *at = local.at;
      return local.result;
    }
    for (;;) {
      io_uring_cqe* completion = nullptr;
      if (io_uring_wait_cqe(ring_, &completion) != 0) continue;  // EINTR
      const uint64_t tag = io_uring_cqe_get_data64(completion);
      const ssize_t result = completion->res;
      io_uring_cqe_seen(ring_, completion);
      if (tag == kIgnored) continue;
      *at = static_cast<unsigned>(tag);
      return result;
    }
  }

  struct Local {
    unsigned at;
    ssize_t result;
  };
  static constexpr uint64_t kIgnored = UINT64_MAX;

  io_uring* const ring_;
  std::vector<Slot> slots_;
  std::vector<unsigned> free_;
  std::deque<Local> local_;  // operations that the calling thread ran itself
  unsigned in_flight_ = 0;
};

// For a thread without a ring.
class PlainQueue : public IoQueue {
 public:
  void submit(const IoOp& op) override { done_ = transfer_fully(op); }
  IoDone reap() override { return done_; }
  unsigned depth() const override { return 1; }

 private:
  IoDone done_;
};

class UringEngine : public Engine {
 public:
  const char* name() const override { return "uring"; }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, bool is_serial) override {
    io_uring* ring = thread_ring().get();
    if (ring == nullptr) return std::make_unique<PlainQueue>();
    return std::make_unique<UringQueue>(ring, is_serial ? 1 : depth);
  }
};

}  // namespace

int probe_uring() {
  io_uring ring = {};
  if (const int error = io_uring_queue_init(4, &ring, 0)) return -error;
  int error = 0;
  io_uring_sqe* entry = io_uring_get_sqe(&ring);
  io_uring_cqe* completion = nullptr;
  if (entry == nullptr) {
    error = ENOMEM;
  } else {
    io_uring_prep_nop(entry);
    const int submitted = io_uring_submit(&ring);
    if (submitted < 1) error = submitted < 0 ? -submitted : EIO;
    if (error == 0 && io_uring_wait_cqe(&ring, &completion) != 0) error = EIO;
    if (error == 0 && completion->res < 0) error = -completion->res;
  }
  io_uring_queue_exit(&ring);
  return error;
}

std::unique_ptr<Engine> make_uring_engine() { return std::make_unique<UringEngine>(); }

}  // namespace hipfile
