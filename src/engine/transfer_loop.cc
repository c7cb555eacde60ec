// SPDX-License-Identifier: MIT
//
// A short read is followed by another until one gives 0: only that is the end of the file. On a
// direct descriptor the rest of a short transfer may be off the alignment; the kernel then answers
// EINVAL, and where bytes were moved before, such an answer means the end as well.
#include "engine/transfer_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "util/watchdog.h"

namespace hipfile {
namespace {

constexpr int kMaxNaps = 1000;

// Regular files do not answer EAGAIN, but file systems in user space answer what they like.
bool nap(int* naps) {
  if (++*naps > kMaxNaps) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

}  // namespace

NextStep account(const IoOp& op, ssize_t result, IoDone* so_far) {
  if (result < 0) {
    const int error = static_cast<int>(-result);
    if (error == EINTR) return NextStep::kContinue;
    const bool is_tail_of_direct_read = error == EINVAL && !op.is_write && so_far->done != 0;
    so_far->error = is_tail_of_direct_read ? 0 : error;
    return NextStep::kFinished;
  }
  if (result == 0) {
    so_far->error = op.is_write ? EIO : 0;
    return NextStep::kFinished;
  }
  so_far->done += static_cast<size_t>(result);
  return so_far->done < op.size ? NextStep::kContinue : NextStep::kFinished;
}

IoOp rest_of(const IoOp& op, size_t done) {
  IoOp rest = op;
  rest.data = static_cast<char*>(op.data) + done;
  rest.size = op.size - done;
  rest.offset = op.offset + static_cast<off_t>(done);
  return rest;
}

IoDone transfer_fully(const IoOp& op) {
  IoDone state;
  state.tag = op.tag;
  if (op.size == 0) return state;
  const WaitMark mark("storage, on the calling thread");
  for (int naps = 0;;) {
    const IoOp rest = rest_of(op, state.done);
    const ssize_t moved = op.is_write ? pwrite(op.fd, rest.data, rest.size, rest.offset)
                                      : pread(op.fd, rest.data, rest.size, rest.offset);
    if (moved < 0 && errno == EAGAIN && nap(&naps)) continue;
    if (account(op, moved < 0 ? -errno : moved, &state) == NextStep::kFinished) return state;
  }
}

IoDone transfer_in_pieces(const IoOp& op, size_t largest) {
  IoDone state;
  state.tag = op.tag;
  while (state.done < op.size) {
    IoOp piece = rest_of(op, state.done);
    piece.size = std::min(piece.size, largest);
    const IoDone done = transfer_fully(piece);
    state.done += done.done;
    state.error = done.error;
    if (done.done < piece.size) break;
  }
  return state;
}

namespace {

class PlainQueue : public IoQueue {
 public:
  void submit(const IoOp& op) override { done_ = transfer_fully(op); }
  IoDone reap() override { return done_; }
  unsigned depth() const override { return 1; }

 private:
  IoDone done_;
};

}  // namespace

std::unique_ptr<IoQueue> open_plain_queue() { return std::make_unique<PlainQueue>(); }

}  // namespace hipfile
