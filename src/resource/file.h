// SPDX-License-Identifier: MIT
//
// A registered file: a duplicate of the client's descriptor, and a second view of the same file
// with O_DIRECT flipped, opened when first needed.
#pragma once

#include <hipfile_ext.h>

#include <atomic>
#include <memory>
#include <optional>

#include "resource/direction.h"
#include "resource/file_facts.h"
#include "util/result.h"
#include "util/unique_fd.h"

namespace hipfile {

/// Thread-safe: immutable but for the second view, which is published once.
class File {
 public:
  /// Duplicates `client_fd`. Fails with hipFileGetNewFDFailed (EMFILE, ENFILE) or
  /// hipFileInternalError (an invalid descriptor).
  static Result<std::unique_ptr<File>> open(int client_fd);

  /// Closes both views, or parks them where a record lock lies on the file.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int client_fd() const { return client_fd_; }
  const FileFacts& facts() const { return facts_; }

  /// True if the client's number still is the open file that was registered (rule 17: F_DUPFD_QUERY
  /// from Linux 6.10, else kcmp, else device, inode and flags).
  bool is_still_client_fd() const;

  /// The descriptor with O_DIRECT for a direction, or -1. Opens the second view if it is that one.
  int direct_fd(Direction direction);
  /// The descriptor without O_DIRECT, or -1. Opens the second view if it is that one.
  int buffered_fd(Direction direction);
  /// True if a direct view is open already. Opens nothing.
  bool has_direct_view(Direction direction) const;
  /// The view to fall back on when the wanted one is not there.
  int own_fd() const { return own_.get(); }
  bool client_is_direct() const { return (facts_.status_flags & kDirectFlag) != 0; }

  /// True if a write would go to the end of the file wherever it is aimed (pwrite(2), BUGS). Asked
  /// of the kernel each time: the duplicate shares its flags with the client, who may set it late.
  bool appends_now() const;

  /// Bytes of a file on ext4, xfs or btrfs now. Elsewhere nothing: the size that a server or
  /// procfs tells may be old or wrong.
  std::optional<off_t> size_now() const;

  /// Why there is one view only, and the errno behind it. Ok while the second was never needed.
  hipFileExtViewReason_t view_reason() const { return reason_.load(std::memory_order_acquire); }
  int view_errno() const { return view_errno_.load(std::memory_order_relaxed); }

  /// Remembered when the kernel answers that this file has no direct path to a GPU, so that not
  /// every request pays for the question.
  bool has_fastpath_failed() const { return fastpath_failed_.load(std::memory_order_relaxed); }
  void remember_fastpath_failure() { fastpath_failed_.store(true, std::memory_order_relaxed); }

 private:
  File(int client_fd, UniqueFd own, const FileFacts& facts);

  static const int kDirectFlag;
  static constexpr int kNotOpened = -2;  // second_: not tried yet
  static constexpr int kNoView = -1;     // second_: tried in vain

  /// Block devices have a second view of their own for writing, opened at the first write: closing
  /// a writable descriptor of one wakes udev, which reads the whole disk's labels again.
  std::atomic<int>& second_of(Direction direction);
  const std::atomic<int>& second_of(Direction direction) const;
  int second_fd(Direction direction);

  const int client_fd_;
  UniqueFd own_;
  const FileFacts facts_;
  std::atomic<int> second_{kNotOpened};
  std::atomic<int> second_for_writing_{kNotOpened};  // of a block device opened for both
  std::atomic<hipFileExtViewReason_t> reason_{hipFileExtViewOk};
  std::atomic<int> view_errno_{0};
  std::atomic<bool> fastpath_failed_{false};
};

}  // namespace hipfile
