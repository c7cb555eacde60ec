// SPDX-License-Identifier: MIT
//
// Writing a chunk from device memory; the last one rounded up to whole blocks, padded with zeros.
#pragma once

#include "buffers.h"
#include "destination.h"
#include "progress.h"
#include "source_reader.h"

namespace aiscp {

/// Used by one thread.
class ChunkWriter {
 public:
  ChunkWriter(const Destination& destination, const Device& device, Counters* counters);

  Status write(const Buffer& buffer, const Piece& piece);

 private:
  /// The size to write: whole blocks where the file takes direct writes, else the piece's own.
  size_t rounded_size(const Buffer& buffer, const Piece& piece) const;
  Status clear_padding(const Buffer& buffer, size_t begin, size_t end);
  /// Writes `size` bytes. `done` counts on from what earlier calls did.
  Status write_range(const Buffer& buffer, const Piece& piece, size_t size, size_t* done);

  const Destination& destination_;
  const Device& device_;
  Counters* const counters_;
};

}  // namespace aiscp
