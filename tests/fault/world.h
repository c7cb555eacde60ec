// SPDX-License-Identifier: MIT
// What a random program works on: files and memories, each beside a model of its bytes.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hipfile.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device_buffer.h"
#include "journal.h"
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

// A stream of the program, which stands still when it is told to.
struct ModelStream {
  hipStream_t stream = nullptr;
  int device = 0;
  bool is_registered = false;
  unsigned flags = 0;        // 0 where it is not registered
  uint32_t* word = nullptr;  // what it waits for while it stands
  uint32_t released = 0;
};

// One transfer. The pointer that is given is base_offset behind the memory's.
struct Range {
  size_t file_offset = 0;
  size_t base_offset = 0;
  size_t buffer_offset = 0;
  size_t size = 0;

  size_t memory_offset() const { return base_offset + buffer_offset; }
};

struct World {
  explicit World(uint64_t seed) : random(seed) {}

  Random random;
  Journal journal;
  size_t devices = 1;
  std::vector<ModelFile> files;
  std::vector<ModelMemory> memories;
  std::vector<ModelStream> streams;
  int64_t use_count = 0;
  hipFileHandle_t stale = nullptr;  // of a file that was deregistered

  // Forget what the library has forgotten.
  void note_deregistered(ModelFile& file);
  void note_closed();
};

constexpr size_t kMostBytes = 3 << 20;  // of a file or a memory

constexpr ssize_t negated(hipFileOpError_t code) {
  return -static_cast<ssize_t>(static_cast<int>(code));
}

// Mostly multiples of 4096, often small, sometimes past the end of the file.
Range some_range(Random& random, const ModelFile& file, const ModelMemory& memory);
// What a read gives, and what it does to the model; what a write does.
size_t model_read(const ModelFile& file, ModelMemory& memory, const Range& range);
void model_write(ModelFile& file, const ModelMemory& memory, const Range& range);
void put(ModelFile& file, size_t offset, const uint8_t* bytes, size_t size);
// O_DIRECT moves whole blocks, and the kernel clears what it finds of holes behind the end:
// behind the count, and never beyond the request, a byte is anything up to the end of its block,
// then what it was or zero. The model takes it over.
void accept_rest(ModelMemory& memory, const Range& range, size_t count);

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
