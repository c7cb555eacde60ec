// SPDX-License-Identifier: MIT
//
// Addresses are private mappings that nobody may touch: they cost the kernel one record each.

#include "address_space.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000  // from Linux 4.17; an older kernel takes the place as a hint
#endif

namespace hip_portable::emulated {
namespace {

constexpr int kNoMemory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void* reserve_addresses(std::size_t size, std::size_t alignment) {
  if (size > SIZE_MAX - alignment) {
    errno = ENOMEM;
    return nullptr;
  }
  void* start = ::mmap(nullptr, size + alignment, PROT_NONE, kNoMemory, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t aligned = (address + alignment - 1) & ~(alignment - 1);
  const std::size_t before = aligned - address;
  if (before != 0) (void)::munmap(start, before);
  if (alignment != before) {
    (void)::munmap(reinterpret_cast<void*>(aligned + size), alignment - before);
  }
  return reinterpret_cast<void*>(aligned);
}

void* reserve_addresses_at(void* place, std::size_t size) {
  void* start = ::mmap(place, size, PROT_NONE, kNoMemory | MAP_FIXED_NOREPLACE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  if (start == place) return start;
  drop_addresses(start, size);
  return nullptr;
}

bool clear_addresses(void* start, std::size_t size) {
  return ::mmap(start, size, PROT_NONE, kNoMemory | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void drop_addresses(void* start, std::size_t size) {
  const int saved = errno;
  if (start != nullptr) (void)::munmap(start, size);
  errno = saved;
}

}  // namespace hip_portable::emulated
