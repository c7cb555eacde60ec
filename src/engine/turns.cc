// SPDX-License-Identifier: MIT
//
// The thread that ends one task begins the next, so that a file never idles for a wake-up; after a
// few it goes back to the pool's queue, so that a pool of one thread serves others too.
#include "engine/turns.h"

#include <sched.h>

namespace hipfile {
namespace {
constexpr int kMostInARow = 8;
}

void Turns::submit(Task& task) {
  {
    MutexLock lock(mutex_);
    waiting_.push(&task);
    if (self_) return;
    self_ = shared_from_this();
  }
  pool_.submit(work_);
}

// Where nobody runs tasks, work_ is on its way into the pool's queue or out of it, and who brings
// it there may not take it out again: a thread of the pool must not fall asleep over that.
bool Turns::help() {
  for (;; sched_yield()) {
    if (pool_.take_back(work_)) {
      run_some();
      return true;
    }
    MutexLock lock(mutex_);
    if (!self_ || is_running_) return false;
  }
}

void Turns::run(void* self) { static_cast<Turns*>(self)->run_some(); }

// The owner of the last task may let go of this object as soon as the task has run. Only a thread
// of the pool hands over to the others: where a program's thread runs tasks, there may be none.
void Turns::run_some() {
  for (int count = 0; count < kMostInARow || !ThreadPool::is_worker(); ++count) {
    Task* task = nullptr;
    std::shared_ptr<Turns> last;
    {
      MutexLock lock(mutex_);
      is_running_ = !waiting_.is_empty();
      if (is_running_) {
        task = waiting_.pop();
      } else {
        last = std::move(self_);
      }
    }
    if (task == nullptr) return;
    task->run(task->context);
  }
  {
    MutexLock lock(mutex_);
    is_running_ = false;
  }
  pool_.submit(work_);
}

std::shared_ptr<Turns> FileTurns::of(dev_t device, uint64_t inode) {
  MutexLock lock(mutex_);
  const std::pair<dev_t, uint64_t> key(device, inode);
  const auto known = turns_.find(key);
  if (known != turns_.end()) {
    if (std::shared_ptr<Turns> turns = known->second.lock()) return turns;
  }
  std::erase_if(turns_, [](const auto& entry) { return entry.second.expired(); });
  auto turns = std::make_shared<Turns>(pool_);
  turns_[key] = turns;
  return turns;
}

}  // namespace hipfile
