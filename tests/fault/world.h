// SPDX-License-Identifier: MIT
// What a random program works on: files and memories, each beside a model of its bytes.
#pragma once

#include <hipfile.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device_buffer.h"
#include "temp_dir.h"

namespace hipfile::test {

using Bytes = std::vector<uint8_t>;

class Random {
 public:
  explicit Random(uint64_t seed) : source_(seed) {}
  size_t below(size_t end) { return end == 0 ? 0 : source_() % end; }
  bool one_in(size_t number) { return below(number) == 0; }
  uint64_t word() { return source_(); }

 private:
  std::mt19937_64 source_;
};

struct ModelFile {
  std::string path;
  Fd fd;
  bool is_direct = false;
  hipFileHandle_t handle = nullptr;  // NULL: not registered
  Bytes bytes;
};

struct ModelMemory {
  std::unique_ptr<Buffer> buffer;
  int device = 0;
  size_t registered = 0;  // bytes from the base; 0: not registered
  Bytes bytes;
};

// A file of `size` pattern bytes, open and not registered.
ModelFile make_file(const std::string& path, size_t size, bool is_direct, uint64_t seed);
// Opens the file anew; the model stays.
void open_again(ModelFile& file, bool is_direct);
// Memory of pattern bytes on a device.
ModelMemory make_memory(size_t size, MemoryKind kind, int device, uint64_t seed);

// Where they differ from their models; empty: nowhere.
std::string difference(const ModelFile& file);
std::string difference(const ModelMemory& memory);

}  // namespace hipfile::test
