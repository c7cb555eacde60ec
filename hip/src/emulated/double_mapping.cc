// SPDX-License-Identifier: MIT
//
// Shared anonymous memory mapped twice. mremap with an old size of 0 duplicates a shared mapping
// without a descriptor; valgrind and some sandboxes refuse that, there a memfd is mapped twice.

#include "double_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <utility>

#include "address_space.h"

namespace hip_portable::emulated {
namespace {

// From Linux 5.14; older C libraries do not name it.
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE

struct Views {
  void* program = nullptr;
  void* working = nullptr;
};

bool duplicate(Views* views, std::size_t size) {
  void* made = ::mmap(views->working, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (made == MAP_FAILED) return false;
  return ::mremap(views->working, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, views->program) !=
         MAP_FAILED;
}

// True, and an open descriptor in *kept, if both views are mapped.
bool map_descriptor(Views* views, std::size_t size, int* kept) {
  const int fd = ::memfd_create("hip-device", MFD_CLOEXEC);
  if (fd < 0) return false;
  bool is_mapped = ::ftruncate(fd, static_cast<off_t>(size)) == 0;
  for (void* view : {views->working, views->program}) {
    is_mapped = is_mapped && ::mmap(view, size, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) != MAP_FAILED;
  }
  if (is_mapped) {
    *kept = fd;
    return true;
  }
  const int saved = errno;
  (void)::close(fd);
  errno = saved;
  return false;
}

// A child has nothing of the device, and a dump would hold all of it. Huge pages where the kernel
// has them for shared memory: fewer faults and faster O_DIRECT.
void advise(void* view, std::size_t size) {
  for (const int advice : {MADV_DONTFORK, MADV_DONTDUMP, MADV_HUGEPAGE}) {
    (void)::madvise(view, size, advice);
  }
}

}  // namespace

bool DoubleMapping::map(std::size_t size, bool is_strict) {
  Views views{reserve_addresses(size, kAlignment), reserve_addresses(size, kAlignment)};
  bool is_mapped = views.program != nullptr && views.working != nullptr &&
                   (duplicate(&views, size) || map_descriptor(&views, size, &descriptor_));
  is_mapped = is_mapped && (!is_strict || ::mprotect(views.program, size, PROT_NONE) == 0);
  if (!is_mapped) {
    drop_addresses(views.program, size);
    drop_addresses(views.working, size);
    if (descriptor_ >= 0) (void)::close(std::exchange(descriptor_, -1));
    return false;
  }
  advise(views.program, size);
  advise(views.working, size);
  program_ = static_cast<std::byte*>(views.program);
  distance_ = static_cast<std::byte*>(views.working) - program_;
  size_ = size;
  return true;
}

bool DoubleMapping::show(const std::byte* start, std::size_t size, void* at) const {
  if (descriptor_ < 0) {
    return ::mremap(working(start), 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED;
  }
  const void* made = ::mmap(at, size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor_, start - program_);
  if (made == MAP_FAILED) return false;
  advise(at, size);
  return true;
}

void DoubleMapping::populate(std::byte* start, std::size_t size) const {
  (void)::madvise(working(start), size, kPopulateWrite);
}

void DoubleMapping::discard(std::byte* start, std::size_t size) const {
  (void)::madvise(working(start), size, MADV_REMOVE);
}

}  // namespace hip_portable::emulated
