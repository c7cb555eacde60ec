// SPDX-License-Identifier: MIT
#include "chunk_writer.h"

#include <algorithm>
#include <cerrno>

#include "signals.h"
#include "util/arith.h"

namespace aiscp {

ChunkWriter::ChunkWriter(const Destination& destination, const Device& device, Counters* counters)
    : destination_(destination), device_(device), counters_(counters) {}

Status ChunkWriter::write(const Buffer& buffer, const Piece& piece) {
  const size_t rounded = rounded_size(buffer, piece);
  size_t done = 0;
  if (rounded != piece.size) {
    Status status = clear_padding(buffer, piece.size, rounded);
    if (status.ok()) status = write_range(buffer, piece, rounded, &done);
    // A limit may lie inside the padding (EFBIG, or EINVAL where it cuts a block): then the bytes
    // themselves still fit. Any other error comes again.
    if (status.is_interrupted()) return status;
  }
  if (done < piece.size) {
    Status status = write_range(buffer, piece, piece.size, &done);
    if (!status.ok()) return status;
  }
  counters_->bytes += piece.size;
  counters_->chunks += 1;
  return {};
}

size_t ChunkWriter::rounded_size(const Buffer& buffer, const Piece& piece) const {
  const hipFileExtFileInfo_t& info = destination_.file().info();
  // Behind the last byte of a block device's copy lies old data that must stay.
  if (destination_.way() == Way::kBlockDevice || info.writes_direct == 0) return piece.size;
  const uint64_t end = hipfile::align_up(piece.offset + piece.size, info.write_alignment);
  const uint64_t size = end - piece.offset;
  return size <= buffer.size ? size : piece.size;
}

Status ChunkWriter::clear_padding(const Buffer& buffer, size_t begin, size_t end) {
  const hipfile::gpu::HipTable& hip = device_.hip();
  hipError_t error = hip.Memset(static_cast<char*>(buffer.base) + begin, 0, end - begin);
  // Clearing device memory does not wait for itself.
  if (error == hipSuccess) error = hip.StreamSynchronize(nullptr);
  if (error == hipSuccess) return {};
  return Status::failure("cannot clear device memory: " + device_.error_name(error));
}

Status ChunkWriter::write_range(const Buffer& buffer, const Piece& piece, size_t size,
                                size_t* done) {
  while (*done < size) {
    if (is_stopping()) return Status::interrupted();
    errno = 0;
    const ssize_t n = hipFileWrite(destination_.file().handle(), buffer.base, size - *done,
                                   static_cast<hoff_t>(piece.offset + *done),
                                   static_cast<hoff_t>(*done));
    if (n > 0) {
      *done += static_cast<size_t>(n);
      continue;
    }
    int error = errno;
    if (n == -1 && error == EINTR) continue;
    if (n == -1 && error == EINVAL && stop_asking_for_direct(destination_.fd())) continue;
    if (n == 0) error = ENOSPC;  // as a write that takes nothing means elsewhere
    return Status::failure("error writing " + destination_.name() + ": " +
                               io_error_text(n == 0 ? -1 : n, error),
                           n == -1 || n == 0 ? error : 0);
  }
  return {};
}

}  // namespace aiscp
