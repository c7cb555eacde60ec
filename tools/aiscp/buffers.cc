// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <hipfile.h>

#include <algorithm>

#include "util/arith.h"

namespace aiscp {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kDefaultChunk = 8 * kMiB;
constexpr size_t kLeastMemory = 2 * kMiB;
static_assert(AISCP_CHUNK_SIZE >= 4096, "AISCP_CHUNK_SIZE holds at least a page");
constexpr size_t kCeiling = hipfile::align_down(std::min<size_t>(AISCP_CHUNK_SIZE, 0x7ffff000),
                                                kPage);

size_t wanted_chunk(const Options& options, uint64_t expected_size) {
  size_t chunk = options.chunk_size != 0 ? options.chunk_size : kDefaultChunk;
  // One page more than the file: the read that finds its end is part of the same chunk.
  if (expected_size != 0) chunk = std::min<uint64_t>(chunk, expected_size + 1);
  // Larger reads of a file that lies not in the page cache pass it by, whatever its descriptor
  // says.
  if (options.direct == Direct::kNever) chunk = std::min(chunk, kMiB);
  return std::min(hipfile::align_up(chunk, kPage), kCeiling);
}

}  // namespace

Status Buffers::prepare(const Options& options, uint64_t expected_size) {
  size_t chunk = wanted_chunk(options, expected_size);
  const bool is_one_enough = expected_size != 0 && expected_size < chunk;
  const size_t needed = is_one_enough || options.jobs == 1 ? 1 : 2;
  if (chunk <= chunk_ && (options.chunk_size == 0 || chunk == chunk_ || is_one_enough)) {
    chunk = chunk_;  // what is there will do
  } else {
    release();
  }
  for (;;) {
    chunk_ = chunk;
    const size_t fitting = std::max<size_t>(2, device_.memory_budget() / chunk_);
    most_ = options.jobs != 0 ? std::min<size_t>(options.jobs, fitting) : fitting;
    hipError_t error = hipSuccess;
    while (buffers_.size() < needed && error == hipSuccess) error = allocate();
    if (error == hipSuccess) return {};
    release();
    const size_t half = hipfile::align_down(chunk / 2, kPage);
    if (error != hipErrorOutOfMemory || half * 2 < kLeastMemory) {
      return Status::failure("cannot allocate device memory: " + device_.error_name(error));
    }
    chunk = half;
  }
}

Buffer* Buffers::grow() {
  if (buffers_.size() >= most_) return nullptr;
  if (allocate() == hipSuccess) return buffers_.back().get();
  most_ = buffers_.size();  // the device is short: those that there are must do
  return nullptr;
}

hipError_t Buffers::allocate() {
  const std::vector<int>& ordinals = device_.ordinals();
  auto buffer = std::make_unique<Buffer>();
  buffer->device = ordinals[buffers_.size() % ordinals.size()];
  buffer->size = chunk_;
  hipError_t error = device_.hip().SetDevice(buffer->device);
  if (error == hipSuccess) error = device_.hip().Malloc(&buffer->base, buffer->size);
  if (error != hipSuccess) {
    (void)device_.hip().GetLastError();
    return error;
  }
  // Spares a look-up per transfer. A refusal costs just that.
  const hipFileError_t registered = hipFileBufRegister(buffer->base, buffer->size, 0);
  (void)registered;
  buffers_.push_back(std::move(buffer));
  return hipSuccess;
}

void Buffers::release() {
  for (const std::unique_ptr<Buffer>& buffer : buffers_) {
    const hipFileError_t deregistered = hipFileBufDeregister(buffer->base);
    (void)deregistered;  // it may never have been registered
    (void)device_.hip().SetDevice(buffer->device);
    (void)device_.hip().Free(buffer->base);
  }
  buffers_.clear();
  chunk_ = 0;
}

}  // namespace aiscp
