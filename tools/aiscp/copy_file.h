// SPDX-License-Identifier: MIT
//
// The copy of one file: what may be copied where, in cp's rules and words, and the steps.
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "buffers.h"
#include "destination.h"
#include "directory.h"
#include "operands.h"
#include "progress.h"
#include "source.h"

namespace aiscp {

/// Copies files one after the other. Buffers, devices and what is known of directories are kept.
class Copier {
 public:
  Copier(const Options& options, Progress* progress)
      : options_(options), progress_(*progress), buffers_(&device_) {}

  /// Says what is to be said. False if the file was not copied.
  bool copy(const CopyPair& pair);

  /// For --stats: device, engine and paths.
  std::string describe_device() const;
  const std::string& describe_paths() const { return paths_; }

 private:
  Status copy_file(const CopyPair& pair);
  Status check_source(const CopyPair& pair, struct stat* from);
  Status check_destination(const CopyPair& pair, const struct stat& from, struct stat* to,
                           bool* is_there, std::string* target);
  /// What came of a source: it changed while it was copied; the copy must be made again, in place.
  struct Outcome {
    bool has_changed = false;
    bool must_redo = false;
  };
  Status copy_content(const Source& source, const DestinationWish& wish, Outcome* outcome);
  Status move_bytes(const Source& source, Destination* destination, uint64_t* end);
  void note_created(const std::string& path);
  void note_paths(const Source& source, const Destination& destination);

  const Options& options_;
  Progress& progress_;
  Device device_;
  Buffers buffers_;
  Directories directories_;
  std::string paths_;
  // Of this run, by cp's key: the name as it was given, device and inode.
  using Key = std::tuple<std::string, dev_t, ino_t>;
  std::set<Key> created_;
  std::set<Key> sources_;
};

}  // namespace aiscp
