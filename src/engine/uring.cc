// SPDX-License-Identifier: MIT
//
// One ring per thread, made at first use and kept (rule 24): setting one up costs more than a small
// read. A child of fork never touches a ring of its parent, whose memory it shares. A thread that
// cannot have a ring (descriptors exhausted) gets the plain calls instead, one after the other.
#include "engine/uring.h"

#include <liburing.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/transfer_loop.h"
#include "util/fork_guard.h"
#include "util/of_this_thread.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

class ThreadRing {
 public:
  ThreadRing() : is_ready_(io_uring_queue_init(kRingEntries, &ring_, 0) == 0) {
    if (is_ready_ && fstat(ring_.ring_fd, &identity_) != 0) identity_ = {};
  }
  ~ThreadRing() {
    if (is_usable() && is_descriptor_ours()) io_uring_queue_exit(&ring_);
  }
  ThreadRing(const ThreadRing&) = delete;
  ThreadRing& operator=(const ThreadRing&) = delete;

  bool is_usable() const { return is_ready_ && !guard_.in_child_of_fork(); }
  io_uring& ring() { return ring_; }

  /// A second queue on the same thread would reap the completions of the first.
  bool is_free() const { return is_usable() && !is_taken_; }
  void take() { is_taken_ = true; }
  void give_back() { is_taken_ = false; }

 private:
  // A program that closes every descriptor it finds may have a file of its own under that number.
  bool is_descriptor_ours() const {
    struct stat now = {};
    return fstat(ring_.ring_fd, &now) == 0 && now.st_dev == identity_.st_dev &&
           now.st_ino == identity_.st_ino;
  }

  ForkGuard guard_;
  struct stat identity_ = {};
  io_uring ring_ = {};
  bool is_ready_;
  bool is_taken_ = false;
};

ThreadRing& thread_ring() {
  auto& ring = of_this_thread<std::unique_ptr<ThreadRing>>();
  if (!ring || !ring->is_usable()) ring = std::make_unique<ThreadRing>();
  return *ring;
}

class UringQueue : public IoQueue {
 public:
  UringQueue(ThreadRing& thread_ring, unsigned depth, bool is_polled)
      : owner_(thread_ring),
        ring_(&thread_ring.ring()),
        is_polled_(is_polled),
        slots_(std::min(depth, kRingEntries)) {
    for (unsigned at = 0; at < slots_.size(); ++at) free_.push_back(at);
    local_.reserve(slots_.size());
    prepared_.reserve(slots_.size());
    owner_.take();
  }
  ~UringQueue() override {
    while (in_flight_ != 0) reap();
    owner_.give_back();
  }

  void submit(const IoOp& op) override { submit_all({&op, 1}); }

  void submit_all(std::span<const IoOp> ops) override {
    for (const IoOp& op : ops) prepare(take_slot(op));
    send();
  }

  IoDone reap() override {
    const WaitMark mark("storage, through io_uring");
    for (;;) {
      const Completed completed = next_result();
      Slot& slot = slots_[completed.at];
      // The kernel would not wait for this file on another thread; this one can.
      if (completed.result == -EAGAIN && !completed.is_local && !slot.op.no_wait) {
        run_here(completed.at);
        continue;
      }
      if (account(slot.op, completed.result, &slot.state) == NextStep::kContinue) {
        prepare(completed.at);
        send();
        continue;
      }
      free_.push_back(completed.at);
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
  struct Completed {
    unsigned at = 0;
    ssize_t result = 0;
    bool is_local = false;  // run by this thread, not by the ring
  };
  static constexpr uint64_t kIgnored = UINT64_MAX;

  io_uring_sqe* free_entry() {
    io_uring_sqe* entry = io_uring_get_sqe(ring_);
    if (entry != nullptr) return entry;
    (void)io_uring_submit(ring_);  // full of entries that the kernel would not take before
    return io_uring_get_sqe(ring_);
  }

  unsigned take_slot(const IoOp& op) {
    const unsigned at = free_.back();
    free_.pop_back();
    slots_[at].op = op;
    slots_[at].state = IoDone();
    slots_[at].state.tag = op.tag;
    ++in_flight_;
    return at;
  }

  // Queue what is left of an operation.
  void prepare(unsigned at) {
    io_uring_sqe* entry = free_entry();
    if (entry == nullptr) return run_here(at);
    const IoOp rest = rest_of(slots_[at].op, slots_[at].state.done);
    const auto size = static_cast<unsigned>(std::min<size_t>(rest.size, 1u << 30));
    const auto offset = static_cast<uint64_t>(rest.offset);
    if (rest.is_write) {
      io_uring_prep_write(entry, rest.fd, rest.data, size, offset);
    } else {
      io_uring_prep_read(entry, rest.fd, rest.data, size, offset);
    }
    if (rest.no_wait) entry->rw_flags = RWF_NOWAIT;
    io_uring_sqe_set_data64(entry, at);
    prepared_.push_back(entry);
  }

  // Tell the kernel what is queued. What it will not take (no memory, or the program closed the
  // ring's descriptor), the calling thread runs.
  void send() {
    // Not by the count that submit returns: it counts entries left over from before as well.
    for (unsigned left = io_uring_sq_ready(ring_); left != 0;) {
      if (io_uring_submit(ring_) == -EINTR) continue;
      const unsigned before = left;
      left = io_uring_sq_ready(ring_);
      if (left == before) break;
    }
    for (unsigned left = io_uring_sq_ready(ring_); left != 0 && !prepared_.empty(); --left) {
      io_uring_sqe* entry = prepared_.back();
      prepared_.pop_back();
      const auto at = static_cast<unsigned>(entry->user_data);
      io_uring_prep_nop(entry);  // it stays queued, and goes out harmlessly with a later submit
      io_uring_sqe_set_data64(entry, kIgnored);
      run_here(at);
    }
    prepared_.clear();
  }

  void run_here(unsigned at) {
    const IoDone done = transfer_fully(rest_of(slots_[at].op, slots_[at].state.done));
    const bool has_failed = done.error != 0 && done.done == 0;
    local_.push_back({at, has_failed ? -done.error : static_cast<ssize_t>(done.done), true});
  }

  int wait_for(io_uring_cqe** entry) {
    return is_polled_ ? io_uring_peek_cqe(ring_, entry) : io_uring_wait_cqe(ring_, entry);
  }

  Completed next_result() {
    if (!local_.empty()) {
      const Completed completed = local_.back();
      local_.pop_back();
      return completed;
    }
    for (;;) {
      io_uring_cqe* entry = nullptr;
      const int error = wait_for(&entry);
      if (error == -EAGAIN) {  // polled: others may have the processor meanwhile
        sched_yield();
        continue;
      }
      if (error != 0) {
        // Without its descriptor the ring still fills, but there is nothing to sleep on.
        if (error != -EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      const uint64_t tag = io_uring_cqe_get_data64(entry);
      const ssize_t result = entry->res;
      io_uring_cqe_seen(ring_, entry);
      if (tag != kIgnored) return {static_cast<unsigned>(tag), result, false};
    }
  }

  ThreadRing& owner_;
  io_uring* const ring_;
  const bool is_polled_;
  std::vector<Slot> slots_;
  std::vector<unsigned> free_;
  std::vector<Completed> local_;
  std::vector<io_uring_sqe*> prepared_;  // not sent yet
  unsigned in_flight_ = 0;
};

class UringEngine : public Engine {
 public:
  const char* name() const override { return "uring"; }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, std::shared_ptr<Turns> turns,
                                      bool is_polled) override {
    ThreadRing& ring = thread_ring();
    if (!ring.is_free()) return open_plain_queue();  // taken, or this thread cannot have one
    return std::make_unique<UringQueue>(ring, turns ? 1 : depth, is_polled);
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
