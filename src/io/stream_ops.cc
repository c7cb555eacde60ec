// SPDX-License-Identifier: MIT
//
// The poller looks at operations whose next step is the stream's, which stores a word and wakes
// nobody. It naps between looks, longer as nothing happens; without such operations it sleeps.
#include "io/stream_ops.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "io/stream_op.h"
#include "util/detached_thread.h"
#include "util/watchdog.h"

namespace hipfile {
namespace {

constexpr std::chrono::microseconds kFirstNap{10};
constexpr std::chrono::microseconds kLongestNap{200};
constexpr std::chrono::milliseconds kHealthPeriod{100};  // how often devices are asked

}  // namespace

bool StreamOps::start_threads() {
  if (!pool_.start() || !health_.start_thread()) return false;
  MutexLock lock(mutex_);
  if (has_poller_) return true;
  has_poller_ = true;
  mutex_.unlock();
  const bool is_started = start_detached_thread(&StreamOps::poll_thread, this);
  mutex_.lock();
  if (!is_started) has_poller_ = false;
  return is_started;
}

void* StreamOps::poll_thread(void* self) {
  pthread_setname_np(pthread_self(), "hipfile-poll");
  (void)prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default of 50 µs would be most of a nap
  for (;;) static_cast<StreamOps*>(self)->poll_until_idle();
}

void StreamOps::poll_until_idle() {
  {
    MutexLock lock(mutex_);
    while (watched_.empty()) change_.wait(mutex_);
  }
  std::chrono::microseconds nap = kFirstNap;
  auto asked = std::chrono::steady_clock::now();
  for (;;) {
    std::deque<std::shared_ptr<StreamOp>> round;
    {
      MutexLock lock(mutex_);
      round.swap(watched_);
      is_in_round_ = !round.empty();
    }
    if (round.empty()) return;
    const size_t before = round.size();
    std::deque<std::shared_ptr<StreamOp>> again;
    const auto now = std::chrono::steady_clock::now();
    const bool must_ask = now - asked >= kHealthPeriod;
    if (must_ask) asked = now;
    for (std::shared_ptr<StreamOp>& op : round) {
      if (must_ask) health_.ask(*op->stream().runtime, op->stream().device);
      if (op->poll()) again.push_back(std::move(op));
    }
    nap = again.size() < before ? kFirstNap : std::min(nap * 2, kLongestNap);
    round.clear();
    {
      MutexLock lock(mutex_);
      for (std::shared_ptr<StreamOp>& op : again) watched_.push_back(std::move(op));
      is_in_round_ = false;
      change_.notify_all();
    }
    std::this_thread::sleep_for(nap);
  }
}

void StreamOps::watch(std::shared_ptr<StreamOp> op) {
  MutexLock lock(mutex_);
  watched_.push_back(std::move(op));
  change_.notify_all();
}

uint64_t StreamOps::epoch() const {
  MutexLock lock(mutex_);
  return epoch_;
}

void StreamOps::note_queued() {
  MutexLock lock(mutex_);
  ++queued_;
}

void StreamOps::note_gone() {
  MutexLock lock(mutex_);
  --queued_;
}

bool StreamOps::begin(uint64_t epoch) {
  MutexLock lock(mutex_);
  if (epoch != epoch_) return false;
  ++running_;
  return true;
}

void StreamOps::note_ended() {
  MutexLock lock(mutex_);
  if (--running_ == 0) change_.notify_all();
}

void StreamOps::close() {
  const WaitMark mark("operations in streams while the driver closes");
  MutexLock lock(mutex_);
  ++epoch_;
  // In a round the poller holds operations that have ended, and with them their memory.
  while (running_ != 0 || is_in_round_) change_.wait(mutex_);
}

bool StreamOps::has_queued() const {
  MutexLock lock(mutex_);
  return queued_ != 0;
}

}  // namespace hipfile
