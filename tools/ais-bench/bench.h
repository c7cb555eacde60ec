// SPDX-License-Identifier: MIT
//
// What all works share: the device, the file, the memory between, and the check that compares
// what lies at both ends.
#pragma once

#include <vector>

#include "device.h"
#include "file.h"
#include "measure.h"
#include "options.h"

namespace ais_bench {

enum class Way { kRead, kWrite };

/// A part of the file.
struct Range {
  size_t begin = 0;
  size_t end = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options);

  const Options& options() const { return options_; }
  const Device& device() const { return device_; }
  File& file() { return file_; }
  size_t size() const { return file_.size(); }
  /// Pinned memory, cut into blocks. A user of several keeps their sum below pinned_size().
  char* pinned(unsigned index, size_t block) const { return pinned_.data() + index * block; }
  size_t pinned_size() const { return pinned_.size(); }
  const Streams& streams() const { return streams_; }
  /// The device's end of the bytes. Of writes it begins at another page in each run, so that the
  /// file changes as a whole.
  char* target() const { return memory_.data() + shift_; }
  char* memory() const { return memory_.data(); }
  size_t memory_size() const { return memory_.size(); }

  /// Before a run of that way: other bytes at its source, none of them at its destination, and the
  /// page cache as the options say.
  void prepare(Way way, unsigned run);
  /// After it: the bytes of file and device are the same.
  void check();

  /// The part of one of `count` threads, cut between calls of `grain` bytes.
  Range share(unsigned index, unsigned count, size_t grain) const;

 private:
  void fill_device();
  void warm_file();

  const Options options_;
  Device device_;
  File file_;
  Memory memory_;
  Memory pinned_;
  Streams streams_;
  size_t shift_ = 0;
  bool is_filled_ = false;  // the device holds the pattern
};

}  // namespace ais_bench
