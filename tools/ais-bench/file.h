// SPDX-License-Identifier: MIT
//
// The file that is measured. In a directory it is a nameless one, filled with a pattern and gone
// with the program; an existing file is read as it is, and written only by --overwrite.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "options.h"
#include "util/unique_fd.h"

namespace ais_bench {

class File {
 public:
  explicit File(const Options& options);
  size_t size() const { return size_; }
  int buffered() const { return buffered_.get(); }
  /// -1: the file system refuses O_DIRECT.
  int direct() const { return direct_.get(); }
  /// One of the two; fails where it is not there.
  int descriptor(bool is_direct) const;
  bool may_write() const { return may_write_; }
  /// By which other programs find it while this one runs.
  std::string path() const;
  /// "ext4", or the number of one whose name is not known here.
  std::string file_system() const;

  /// Changes a byte, if the file may be written, so that no run finds what the last one left.
  void stamp(unsigned run);
  /// Waits until all of it is on the disk, so that no run pays for the one before.
  void flush() const;
  /// Out of the page cache; what is dirty stays.
  void drop() const;

 private:
  void make(const Options& options);
  void open_existing(const Options& options);
  void fill() const;

  hipfile::UniqueFd buffered_;
  hipfile::UniqueFd direct_;
  size_t size_ = 0;
  bool may_write_ = false;
};

/// Bytes that are a function of their position, a multiple of 8.
void fill_pattern(void* data, size_t size, uint64_t position);

/// The whole range, or the end of the program.
void read_fully(int fd, char* data, size_t size, off_t offset);
void write_fully(int fd, const char* data, size_t size, off_t offset);

}  // namespace ais_bench
