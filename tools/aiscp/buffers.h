// SPDX-License-Identifier: MIT
//
// Device memory for chunks: bounded in all, taken when needed, kept from file to file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device.h"

namespace aiscp {

struct Buffer {
  void* base = nullptr;
  size_t size = 0;  ///< bytes, a multiple of the page size
  int device = 0;
};

/// Not thread-safe; grow() is called by one thread, on which no transfer runs meanwhile.
class Buffers {
 public:
  explicit Buffers(Device* device) : device_(*device) {}
  ~Buffers() { release(); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// At least one buffer, two if a file of `expected_size` (0: unknown) needs more than one chunk.
  /// Where the device is short of memory, smaller chunks are tried, down to 1 MiB.
  Status prepare(const Options& options, uint64_t expected_size);

  /// One more buffer, or NULL if there may be no more.
  Buffer* grow();

  size_t count() const { return buffers_.size(); }
  Buffer* at(size_t index) { return buffers_[index].get(); }
  size_t chunk() const { return chunk_; }
  void release();

 private:
  hipError_t allocate();

  Device& device_;
  size_t chunk_ = 0;  // size of every buffer
  size_t most_ = 0;   // buffers
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace aiscp
