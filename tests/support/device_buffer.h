// SPDX-License-Identifier: MIT
// Memory of every kind that hipFile accepts, with the copies that tests need. Device memory is only
// ever touched through the runtime: in strict mode the program's view of it cannot be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hipfile::test {

enum class MemoryKind { kDevice, kPinned, kManaged, kHost };

const char* memory_kind_name(MemoryKind kind);

// One allocation. Aborts the program when the memory cannot be had.
class Buffer {
 public:
  explicit Buffer(size_t size, MemoryKind kind = MemoryKind::kDevice);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  uint8_t* at(size_t offset) const { return static_cast<uint8_t*>(data_) + offset; }
  size_t size() const { return size_; }
  MemoryKind kind() const { return kind_; }

  // Copies between host memory and the buffer.
  void set(const std::vector<uint8_t>& bytes, size_t offset = 0);
  void fill(uint8_t value);
  std::vector<uint8_t> get(size_t offset, size_t size) const;
  std::vector<uint8_t> get() const { return get(0, size_); }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  MemoryKind kind_;
};

}  // namespace hipfile::test
