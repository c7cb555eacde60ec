// SPDX-License-Identifier: MIT
#include "world.h"

#include <fcntl.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <filesystem>

#include "pattern.h"

namespace hipfile::test {

void World::note_deregistered(ModelFile& file) {
  if (file.handle != nullptr) stale = file.handle;
  file.handle = nullptr;
}

void World::note_closed() {
  for (ModelFile& file : files) note_deregistered(file);
  for (ModelMemory& memory : memories) memory.registered = 0;
}

Range some_range(Random& random, const ModelFile& file, const ModelMemory& memory) {
  Range range;
  const size_t length = memory.bytes.size();
  const size_t unit = random.one_in(2) ? 4096 : 1;
  const auto aligned = [unit](size_t value) { return value / unit * unit; };
  if (memory.registered == 0 || random.one_in(4)) {
    range.base_offset = aligned(random.below(length));
  }
  const bool is_registered_base = range.base_offset == 0 && memory.registered != 0;
  const size_t room = (is_registered_base ? memory.registered : length) - range.base_offset;
  range.buffer_offset = aligned(random.below(room));
  range.size = aligned(random.below(room - range.buffer_offset + 1));
  const size_t end = file.bytes.size() + (random.one_in(4) ? 100000 : 1);
  range.file_offset = aligned(random.below(std::min(end, kMostBytes)));
  return range;
}

size_t model_read(const ModelFile& file, ModelMemory& memory, const Range& range) {
  const size_t begin = std::min(file.bytes.size(), range.file_offset);
  const size_t count = std::min(file.bytes.size() - begin, range.size);
  std::copy_n(file.bytes.data() + begin, count, memory.bytes.data() + range.memory_offset());
  return count;
}

void model_write(ModelFile& file, const ModelMemory& memory, const Range& range) {
  put(file, range.file_offset, memory.bytes.data() + range.memory_offset(), range.size);
}

void put(ModelFile& file, size_t offset, const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  file.bytes.resize(std::max(file.bytes.size(), offset + size));
  std::copy_n(bytes, size, file.bytes.data() + offset);
}

void accept_rest(ModelMemory& memory, const Range& range, size_t count) {
  if (count == 0 || count == range.size) return;
  const size_t begin = range.memory_offset() + count;
  const size_t to_border = (4096 - (range.file_offset + count) % 4096) % 4096;
  const Bytes there = memory.buffer->get(begin, range.size - count);
  for (size_t at = 0; at < there.size(); ++at) {
    if (at < to_border || there[at] == 0) memory.bytes[begin + at] = there[at];
  }
}

ModelFile make_file(const std::string& path, size_t size, bool is_direct, uint64_t seed) {
  ModelFile file;
  file.path = path;
  file.bytes = make_pattern(size, seed);
  write_file(path, file.bytes);
  open_again(file, is_direct);
  return file;
}

void open_again(ModelFile& file, bool is_direct) {
  const std::string folder = std::filesystem::path(file.path).parent_path();
  file.fd.reset();  // the number is free before it is taken again
  file.fd = Fd(file.path, O_RDWR | (is_direct ? direct_flag_of(folder) : 0));
  file.is_direct = is_direct;
}

ModelMemory make_memory(size_t size, MemoryKind kind, int device, uint64_t seed) {
  ModelMemory memory;
  (void)hipSetDevice(device);
  memory.device = device;
  memory.buffer = std::make_unique<Buffer>(size, kind);
  memory.bytes = make_pattern(size, seed);
  memory.buffer->set(memory.bytes);
  return memory;
}

std::string difference(const ModelFile& file) {
  return first_difference(read_file(file.path), file.bytes);
}

std::string difference(const ModelMemory& memory) {
  return first_difference(memory.buffer->get(), memory.bytes);
}

}  // namespace hipfile::test
