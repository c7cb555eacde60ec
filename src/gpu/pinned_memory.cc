// SPDX-License-Identifier: MIT
//
// mmap, huge pages, populate, register. The mapping is kept out of children of fork: a child that
// wrote to a page under DMA would tear parent and device apart.
#include "gpu/pinned_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "gpu/numa.h"
#include "util/arith.h"
#include "util/log.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

namespace hipfile {
namespace {

constexpr size_t kHugePage = 2 << 20;

// A mapping that begins at a huge page, so that all of it can be made of huge pages.
char* map_aligned(size_t size) {
  const size_t padded = size + kHugePage;
  void* mapped = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(mapped);
  char* aligned = reinterpret_cast<char*>(align_up(reinterpret_cast<uintptr_t>(begin), kHugePage));
  const auto before = static_cast<size_t>(aligned - begin);
  if (before != 0) munmap(begin, before);
  if (before != kHugePage) munmap(aligned + size, kHugePage - before);
  return aligned;
}

}  // namespace

PinnedMemory PinnedMemory::allocate(Gpu& gpu, size_t size, int numa_node, bool may_pin) {
  PinnedMemory memory;
  memory.data_ = map_aligned(size);
  if (memory.data_ == nullptr) return memory;
  memory.gpu_ = &gpu;
  memory.size_ = size;
  memory.numa_node_ = numa_node;
  (void)madvise(memory.data_, size, MADV_HUGEPAGE);
  (void)madvise(memory.data_, size, MADV_DONTFORK);
  (void)madvise(memory.data_, size, MADV_DONTDUMP);
  gpu::prefer_numa_node(memory.data_, size, numa_node);
  (void)madvise(memory.data_, size, MADV_POPULATE_WRITE);  // else it is populated page by page
  memory.is_pinned_ = may_pin && gpu.pin(memory.data_, size).ok();
  if (!memory.is_pinned_) log_info("%zu MiB of the ring stay pageable", size >> 20);
  return memory;
}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(numa_node_, other.numa_node_);
  std::swap(is_pinned_, other.is_pinned_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (data_ == nullptr) return;
  if (is_pinned_) gpu_->unpin(data_);
  munmap(data_, size_);
}

}  // namespace hipfile
