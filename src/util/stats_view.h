// SPDX-License-Identifier: MIT
//
// The counters of another process, read-only. They are found among its descriptors in /proc, so the
// kernel decides who may look: the same user, or root. They stay readable when the process is gone.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "util/stats_layout.h"
#include "util/unique_fd.h"

namespace hipfile::stats {

class View {
 public:
  enum class Failure {
    kNone,
    kNoProcess,      ///< no such process
    kNotAccessible,  ///< of another user
    kNothing,        ///< it has not used hipFile, counts nothing, or shut the file
    kVersion         ///< a layout that this program does not know
  };

  /// The counters of a process. NULL for a failure.
  static std::unique_ptr<View> attach(pid_t pid, Failure* failure);
  /// The counters in a memory file, which may be closed afterwards.
  static std::unique_ptr<View> map(int fd, Failure* failure);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const Header& header() const { return *header_; }
  void sum(Totals* totals) const;

 private:
  View(const Header* header, size_t bytes) : header_(header), bytes_(bytes) {}
  const Header* header_;
  size_t bytes_;
};

const char* text_of(View::Failure failure);

}  // namespace hipfile::stats
