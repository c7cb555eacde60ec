// SPDX-License-Identifier: MIT
//
// Lists of idle streams: one for each thread, and one for what threads leave behind.
#include "gpu/copy_stream.h"

#include <utility>

#include "gpu/guards.h"
#include "util/of_this_thread.h"

namespace hipfile {

CopyStream::~CopyStream() {
  if (stream == nullptr || runtime->is_gone.load(std::memory_order_acquire)) return;
  const gpu::HipTable& hip = runtime->hip;
  const LastErrorGuard errors(hip);
  const RelaxedCapture capture(hip);
  for (hipEvent_t event : events) (void)hip.EventDestroy(event);
  (void)hip.StreamDestroy(stream);
}

void StreamList::push(std::unique_ptr<CopyStream> stream) {
  stream->next = std::move(first_);
  first_ = std::move(stream);
}

std::unique_ptr<CopyStream> StreamList::pop() {
  std::unique_ptr<CopyStream> stream = std::move(first_);
  if (stream) first_ = std::move(stream->next);
  return stream;
}

std::unique_ptr<CopyStream> StreamList::take(const gpu::Runtime* runtime, int device) {
  for (std::unique_ptr<CopyStream>* link = &first_; *link; link = &(*link)->next) {
    if ((*link)->runtime != runtime || (*link)->device != device) continue;
    std::unique_ptr<CopyStream> stream = std::move(*link);
    *link = std::move(stream->next);
    return stream;
  }
  return nullptr;
}

void StreamList::abandon() { (void)first_.release(); }

StreamList::~StreamList() {
  while (pop()) {  // one after the other, however long the list
  }
}

// In a child of fork the runtime that made the streams is dead, and whoever held the lock is not
// there.
class StreamStock::OfThread {
 public:
  ~OfThread() { let_go(); }

  void belong_to(StreamStock& stock) {
    if (stock_.get() == &stock) return;
    let_go();
    stock_ = stock.shared_from_this();
  }
  StreamList& streams() { return streams_; }

 private:
  void let_go() {
    if (stock_ == nullptr) return;
    if (stock_->fork_guard_.in_child_of_fork()) {
      streams_.abandon();
    } else {
      stock_->inherit(streams_);
    }
    stock_.reset();
  }

  std::shared_ptr<StreamStock> stock_;
  StreamList streams_;
};

StreamStock::~StreamStock() {
  if (!fork_guard_.in_child_of_fork()) return;
  MutexLock lock(mutex_);
  left_.abandon();
}

StreamStock::OfThread& StreamStock::mine() {
  auto& of_thread = of_this_thread<OfThread>();
  of_thread.belong_to(*this);
  return of_thread;
}

void StreamStock::inherit(StreamList& streams) {
  MutexLock lock(mutex_);
  while (std::unique_ptr<CopyStream> stream = streams.pop()) left_.push(std::move(stream));
}

std::unique_ptr<CopyStream> StreamStock::take(const gpu::Runtime* runtime, int device) {
  if (std::unique_ptr<CopyStream> own = mine().streams().take(runtime, device)) return own;
  MutexLock lock(mutex_);
  return left_.take(runtime, device);
}

void StreamStock::give_back(std::unique_ptr<CopyStream> stream) {
  mine().streams().push(std::move(stream));
}

}  // namespace hipfile
