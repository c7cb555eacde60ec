// SPDX-License-Identifier: MIT
#include "source_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "signals.h"
#include "util/arith.h"

namespace aiscp {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

SourceReader::SourceReader(const Source& source, bool may_skip_holes)
    : source_(source),
      skips_holes_(source.knows_holes && may_skip_holes),
      is_size_trusted_(source.has_real_size()) {}

Status SourceReader::next(void* buffer, size_t capacity, Piece* piece) {
  for (;;) {
    if (is_stopping()) return Status::interrupted();
    bool is_end = false;
    if (Status status = look_for_end(); !status.ok()) return status;
    if (position_ >= limit_) is_end = true;
    if (!is_end) {
      if (Status status = find_data(&is_end); !status.ok()) return status;
    }
    piece->offset = position_;
    piece->size = 0;
    if (is_end) return {};

    // Whole blocks are asked for, also at the end of the data; what lies behind a limit is dropped.
    const uint64_t data_end = std::min(stretch_end_, limit_);
    size_t want = capacity;
    if (data_end != kUnknown) {
      want = std::min<uint64_t>(want, hipfile::align_up(data_end, kPage) - position_);
    }
    size_t got = 0;
    if (Status status = fill(buffer, want, &got); !status.ok()) return status;
    if (limit_ != kUnknown) got = std::min<uint64_t>(got, limit_ - position_);
    if (got > 0) {
      piece->size = got;
      position_ += got;
      has_retried_ = false;
      return {};
    }
    if (Status status = check_end(&is_end); !status.ok()) return status;
    if (is_end) return {};
  }
}

Status SourceReader::look_for_end() {
  if (!is_size_trusted_ || limit_ != kUnknown ||
      position_ < static_cast<uint64_t>(source_.first.st_size)) {
    return {};
  }
  struct stat now {};
  if (::fstat(source_.fd.get(), &now) != 0) {
    return Status::of_errno("cannot fstat " + source_.name, errno);
  }
  const uint64_t size = static_cast<uint64_t>(now.st_size);
  if (size > position_) limit_ = size;  // it grows: this is the end it gets
  return {};
}

Status SourceReader::find_data(bool* is_end) {
  if (!skips_holes_) {
    stretch_end_ = kUnknown;
    return {};
  }
  if (position_ < stretch_end_) return {};
  struct stat now {};  // before the question: what is no hole yet lies behind this size
  if (::fstat(source_.fd.get(), &now) != 0) {
    return Status::of_errno("cannot fstat " + source_.name, errno);
  }
  const uint64_t size = static_cast<uint64_t>(now.st_size);
  const off_t data = ::lseek(source_.fd.get(), static_cast<off_t>(position_), SEEK_DATA);
  if (data < 0 && errno != ENXIO) return Status::of_errno("cannot lseek " + source_.name, errno);
  if (data < 0 || static_cast<uint64_t>(data) >= limit_) {
    if (position_ < size) {  // a hole up to the end
      position_ = std::min(size, limit_);
      *is_end = true;
    } else {
      stretch_end_ = position_ + 1;  // at the end: a read is to confirm it
    }
    return {};
  }
  const off_t hole = ::lseek(source_.fd.get(), data, SEEK_HOLE);
  if (hole < 0 && errno != ENXIO) return Status::of_errno("cannot lseek " + source_.name, errno);
  // Never backwards: the file may be written to while we look.
  position_ = std::max(position_, hipfile::align_down(static_cast<uint64_t>(data), kPage));
  stretch_end_ = std::max(position_ + 1, static_cast<uint64_t>(hole < 0 ? data + 1 : hole));
  return {};
}

Status SourceReader::fill(void* buffer, size_t want, size_t* got) {
  while (*got < want) {
    if (is_stopping()) return Status::interrupted();
    errno = 0;
    const ssize_t n = hipFileRead(source_.file.handle(), buffer, want - *got,
                                  static_cast<hoff_t>(position_ + *got),
                                  static_cast<hoff_t>(*got));
    if (n == 0) break;
    if (n < 0) {
      const int error = errno;
      if (n == -1 && error == EINTR) continue;
      if (n == -1 && error == EINVAL && stop_asking_for_direct(source_.fd.get())) continue;
      return Status::failure("error reading " + source_.name + ": " + io_error_text(n, error),
                             n == -1 ? error : 0);
    }
    *got += static_cast<size_t>(n);
  }
  return {};
}

Status SourceReader::check_end(bool* is_end) {
  *is_end = true;
  if (!source_.is_regular() || source_.is_pseudo) return {};
  struct stat now {};
  if (::fstat(source_.fd.get(), &now) != 0) {
    return Status::of_errno("cannot fstat " + source_.name, errno);
  }
  const uint64_t size = static_cast<uint64_t>(now.st_size);
  if (size <= position_) return {};
  if (has_retried_) {
    return Status::failure("error reading " + source_.name + ": it ends after " +
                           std::to_string(position_) + " of " + std::to_string(size) + " bytes");
  }
  // It grew between the read and the question: up to here, and no further.
  limit_ = std::min(limit_, size);
  has_retried_ = true;
  stretch_end_ = 0;
  *is_end = false;
  return {};
}

}  // namespace aiscp
