// SPDX-License-Identifier: MIT
//
// Views are published without a lock: two threads that need the second view at once both open it,
// and the loser's is closed (or parked). No lock is held across a system call.
#include "resource/file.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "resource/record_locks.h"
#include "resource/second_view.h"

#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY 1027 /* F_LINUX_SPECIFIC_BASE + 3, from Linux 6.10 */
#endif

namespace hipfile {

const int File::kDirectFlag = O_DIRECT;

File::File(int client_fd, UniqueFd own, const FileFacts& facts)
    : client_fd_(client_fd), own_(std::move(own)), facts_(facts) {}

Result<std::unique_ptr<File>> File::open(int client_fd) {
  Result<FileFacts> facts = read_file_facts(client_fd);
  if (!facts.ok()) return Error::of(hipFileInternalError);
  UniqueFd own(fcntl(client_fd, F_DUPFD_CLOEXEC, 0));
  if (!own) {
    const bool is_exhausted = errno == EMFILE || errno == ENFILE;
    return Error::of(is_exhausted ? hipFileGetNewFDFailed : hipFileInternalError);
  }
  return std::unique_ptr<File>(new File(client_fd, std::move(own), facts.value()));
}

File::~File() {
  for (const std::atomic<int>* view : {&second_, &second_for_writing_}) {
    const int second = view->load(std::memory_order_acquire);
    if (second >= 0) close_or_park(UniqueFd(second));
  }
  close_or_park(std::move(own_));
}

bool File::is_still_client_fd() const {
  const int same = fcntl(client_fd_, F_DUPFD_QUERY, own_.get());
  if (same >= 0) return same == 1;
  if (errno == EBADF) return false;
  const pid_t self = getpid();
  const long order = syscall(SYS_kcmp, self, self, KCMP_FILE, client_fd_, own_.get());
  if (order >= 0) return order == 0;
  struct stat now = {};
  if (fstat(client_fd_, &now) != 0) return false;
  return now.st_dev == facts_.device && now.st_ino == facts_.inode &&
         fcntl(client_fd_, F_GETFL) == facts_.status_flags;
}

bool File::appends_now() const {
  const int flags = fcntl(own_.get(), F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0;
}

std::optional<off_t> File::size_now() const {
  struct stat now = {};
  if (!facts_.reports_residency || fstat(own_.get(), &now) != 0) return std::nullopt;
  return now.st_size;
}

int File::direct_fd(Direction direction) {
  if (!facts_.direct.possible()) {
    // Nothing to gain, and the reason is worth naming where a view was asked for.
    hipFileExtViewReason_t none = hipFileExtViewOk;
    reason_.compare_exchange_strong(none, facts_.is_regular() || facts_.is_block_device()
                                              ? hipFileExtViewNotSupported
                                              : hipFileExtViewFileType);
    return kNoView;
  }
  return client_is_direct() ? own_.get() : second_fd(direction);
}

bool File::has_direct_view(Direction direction) const {
  if (!facts_.direct.possible()) return false;
  return client_is_direct() || second_of(direction).load(std::memory_order_acquire) >= 0;
}

int File::buffered_fd(Direction direction) {
  return client_is_direct() ? second_fd(direction) : own_.get();
}

const std::atomic<int>& File::second_of(Direction direction) const {
  const bool is_apart = direction == Direction::kWrite && facts_.is_block_device();
  return is_apart ? second_for_writing_ : second_;
}

std::atomic<int>& File::second_of(Direction direction) {
  return const_cast<std::atomic<int>&>(std::as_const(*this).second_of(direction));
}

int File::second_fd(Direction direction) {
  std::atomic<int>& second = second_of(direction);
  const int known = second.load(std::memory_order_acquire);
  if (known != kNotOpened) return known;
  SecondView view = open_second_view(own_.get(), facts_, direction);
  int expected = kNotOpened;
  const int opened = view.fd ? view.fd.get() : kNoView;
  if (!view.fd) {
    view_errno_.store(view.error, std::memory_order_relaxed);
    reason_.store(view.reason, std::memory_order_release);
  }
  if (second.compare_exchange_strong(expected, opened, std::memory_order_acq_rel)) {
    (void)view.fd.release();
    return opened;
  }
  close_or_park(std::move(view.fd));
  return expected;
}

}  // namespace hipfile
