// SPDX-License-Identifier: MIT
//
// Recognising a child of fork() by one load (rule 33). A page marked MADV_WIPEONFORK (Linux 4.14)
// reads as zero in the child; getpid() would cost a system call.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace hipfile {

/// Made in a process, it tells whether it is looked at in a child of that process. Without the page
/// (memory exhausted, old kernel) no child is recognised.
class ForkGuard {
 public:
  ForkGuard() {
    void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, kPage, MADV_WIPEONFORK) != 0) {
      munmap(page, kPage);
      return;
    }
    mark_ = new (page) std::atomic<char>(1);
  }
  ~ForkGuard() {
    if (mark_ != nullptr) munmap(mark_, kPage);
  }
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  bool in_child_of_fork() const {
    return mark_ != nullptr && mark_->load(std::memory_order_relaxed) == 0;
  }

 private:
  static constexpr size_t kPage = 4096;
  std::atomic<char>* mark_ = nullptr;
};

}  // namespace hipfile
