// SPDX-License-Identifier: MIT
// What of a file lies in the page cache. By mincore(2), which works on every file system but tells
// only the owner of the file (and root) the truth.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace hipfile::test {

constexpr size_t kPage = 4096;

// Pages of [offset, offset + size) that are resident; the range is made of whole pages.
inline size_t cached_pages(int fd, size_t offset, size_t size) {
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
  EXPECT_NE(MAP_FAILED, mapped);
  if (mapped == MAP_FAILED) return 0;
  std::vector<unsigned char> pages(size / kPage);
  EXPECT_EQ(0, ::mincore(mapped, size, pages.data()));
  ::munmap(mapped, size);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

// Writes the file back and drops it from the cache.
inline void drop_cache(int fd) {
  EXPECT_EQ(0, ::fsync(fd));
  EXPECT_EQ(0, ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
}

// Brings pages into the cache, and none beside them.
inline void warm_cache(int fd, size_t offset, size_t size) {
  EXPECT_EQ(0, ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM));
  char page[kPage];
  for (size_t at = offset; at < offset + size; at += kPage) {
    EXPECT_EQ(static_cast<ssize_t>(kPage), ::pread(fd, page, kPage, static_cast<off_t>(at)));
  }
}

}  // namespace hipfile::test
