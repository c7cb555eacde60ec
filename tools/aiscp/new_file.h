// SPDX-License-Identifier: MIT
//
// A file that is written where nobody sees it and gets its name when it is whole.
#pragma once

#include <string>

#include "directory.h"
#include "util/unique_fd.h"

namespace aiscp {

/// Removed when it goes, unless put in place.
class NewFile {
 public:
  NewFile() = default;
  ~NewFile() { discard(); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Makes the file, closed to others. `is_replacing`: NAME exists. 0 or an errno.
  int create(Directory* directory, const std::string& name, bool is_replacing);

  /// Closes the file and gives it its name. 0 or an errno; then it can still be discarded.
  int put_in_place();

  void discard();

  int fd() const { return fd_.get(); }
  /// Neither links nor RENAME_NOREPLACE work there: it bears its final name from the beginning.
  bool has_final_name() const { return kind_ == Kind::kFinal; }
  Directory* directory() const { return directory_; }

 private:
  enum class Kind { kNone, kUnnamed, kHidden, kFinal };

  int create_named(const std::string& name);
  int close_checked();
  /// From the hidden name to the final one, which must be free. 0 or an errno.
  int move_to_free_name();
  void unlink_if_ours(const std::string& name);

  Kind kind_ = Kind::kNone;
  Directory* directory_ = nullptr;
  bool is_replacing_ = false;
  std::string name_;         // the final one
  std::string hidden_name_;  // of kHidden; of kUnnamed on its way to replace an old file
  hipfile::UniqueFd fd_;
  struct stat identity_ {};  // so that only our own file is ever removed
};

}  // namespace aiscp
