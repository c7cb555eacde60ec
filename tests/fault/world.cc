// SPDX-License-Identifier: MIT
#include "world.h"

#include <fcntl.h>
#include <hip/hip_runtime_api.h>

#include <filesystem>

#include "pattern.h"

namespace hipfile::test {

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
