// SPDX-License-Identifier: MIT
//
// The device that is measured, found through the loader, and memory and streams of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gpu/loader.h"

namespace ais_bench {

/// Binds the runtime. All else here ends the program when the runtime refuses.
class Device {
 public:
  explicit Device(int ordinal);
  const hipfile::gpu::HipTable& hip() const { return runtime_->hip; }
  int ordinal() const { return ordinal_; }
  bool is_emulated() const { return is_emulated_; }
  std::string name() const;
  /// The shared object of the runtime.
  const std::string& runtime_path() const { return runtime_->path; }
  /// For the calling thread.
  void make_current() const;
  /// Fails with "WHAT: hipErrorX" unless it is a success.
  void check(hipError_t error, const char* what) const;

 private:
  const hipfile::gpu::Runtime* runtime_ = nullptr;
  int ordinal_ = 0;
  bool is_emulated_ = false;
};

/// Device memory, or pinned host memory.
class Memory {
 public:
  enum class Kind { kDevice, kPinned };
  Memory(const Device& device, Kind kind, size_t size);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* data() const { return static_cast<char*>(data_); }
  size_t size() const { return size_; }

 private:
  const Device& device_;
  const Kind kind_;
  const size_t size_;
  void* data_ = nullptr;
};

/// Non-blocking streams.
class Streams {
 public:
  Streams(const Device& device, unsigned count);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  hipStream_t operator[](size_t index) const { return streams_[index]; }
  /// Copy and wait, on stream `index`.
  void copy(size_t index, void* to, const void* from, size_t size, hipMemcpyKind kind) const;

 private:
  const Device& device_;
  std::vector<hipStream_t> streams_;
};

}  // namespace ais_bench
