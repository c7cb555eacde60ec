// SPDX-License-Identifier: MIT
//
// Where the bytes go: a new file that gets its name at the end, a new file in place of an old one,
// the old file itself, or a block device. The table "The copy of one file" of the man page's
// NOTES is decided here.
#pragma once

#include <sys/stat.h>

#include <string>

#include "directory.h"
#include "new_file.h"
#include "registered.h"

namespace aiscp {

enum class Way {
  kNew,          ///< no file of that name
  kReplace,      ///< a new file takes the old one's name and attributes
  kForced,       ///< -f: the old one could not be opened; a new one takes its name only
  kInPlace,      ///< the old file is truncated and overwritten
  kBlockDevice,  ///< overwritten, never truncated
};

/// What is to be opened. `old` is NULL if there is no file of that name.
struct DestinationWish {
  const Options& options;
  std::string path;
  const struct stat* old = nullptr;
  mode_t source_mode = 0;
  bool must_be_in_place = false;
};

class Destination {
 public:
  explicit Destination(const DestinationWish& wish);

  Status open(Directories* directories);

  /// Size, attributes, flush, name. `must_redo`: replacing was refused; the old file is untouched
  /// and the copy is to be made again in place.
  Status finish(uint64_t end, bool* must_redo);

  /// Removes what is unfinished. Nothing can be removed in place: then true.
  bool discard();

  /// A failure's line, with what it means for the destination.
  Status explain(const Status& failure) const;

  const std::string& name() const { return name_; }
  int fd() const { return old_fd_for_writing_ ? old_fd_for_writing_.get() : new_file_.fd(); }
  const Registered& file() const { return file_; }
  Way way() const { return way_; }
  bool is_in_place() const { return way_ == Way::kInPlace || way_ == Way::kBlockDevice; }
  /// Why an old file is overwritten, or NULL.
  const char* in_place_reason() const { return in_place_reason_; }

 private:
  Status open_new(Directories* directories);
  Status open_old(Directories* directories);
  Status open_block_device();
  Status open_in_place(const char* reason);
  Status open_forced(Directories* directories);
  Status open_replacing(Directories* directories);
  Status register_file();
  Status set_size(uint64_t end);
  /// 0 or an errno; `must_redo` as in finish().
  int set_attributes(bool* must_redo);
  Status flush();
  Status finish_in_place();
  Status create_failure(int error) const;

  const DestinationWish wish_;
  const std::string name_;
  Way way_ = Way::kNew;
  const char* in_place_reason_ = nullptr;
  NewFileMode mode_;
  hipfile::UniqueFd old_fd_for_writing_;
  hipfile::UniqueFd old_fd_for_reading_;
  NewFile new_file_;
  Registered file_;  // after the descriptors: deregistered before they are closed
};

}  // namespace aiscp
