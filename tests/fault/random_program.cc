// SPDX-License-Identifier: MIT
// A random program against the library, every step held against a model:
//
//   random_program [--seed N] [--steps N]
//
// Files with and without O_DIRECT, memories of every kind on two devices, bursts of operations in
// streams and batches (burst.h), handles that are stale, arguments that are wrong. A step whose
// outcome is not the model's ends the run, with the last steps and a command that plays them again.
// Files lie where all tests keep theirs.
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "burst.h"
#include "world.h"

namespace hipfile::test {
namespace {

constexpr size_t kFiles = 5;
constexpr size_t kMemories = 7;
constexpr size_t kStreams = 6;
constexpr size_t kWordsApart = 16;

class Program {
 public:
  Program(uint64_t seed, unsigned long steps) : seed_(seed), steps_(steps), world_(seed) {
    int devices = 1;
    if (hipGetDeviceCount(&devices) == hipSuccess) world_.devices = static_cast<size_t>(devices);
    for (size_t at = 0; at < kFiles; ++at) {
      files_.push_back(make_file(dir_.file(std::to_string(at)), some_size(), coin(), word()));
    }
    for (size_t at = 0; at < kMemories; ++at) memories_.push_back(some_memory());
    for (size_t at = 0; at < kStreams; ++at) make_stream(at);
  }

  int run() {
    for (step_ = 1; step_ <= steps_ && !journal_.has_failed(); ++step_) take_step();
    for (ModelFile& file : files_) journal_.check(difference(file), "a file at the end");
    for (ModelMemory& memory : memories_) journal_.check(difference(memory), "a memory at the end");
    if (journal_.has_failed()) return report();
    std::printf("%lu steps, seed %llu: all as the model\n", steps_,
                static_cast<unsigned long long>(seed_));
    return 0;
  }

 private:
  bool coin() { return random_.one_in(2); }
  uint64_t word() { return random_.word(); }
  size_t some_size() { return 1 + random_.below(random_.one_in(8) ? kMostBytes : 70000); }
  ModelFile& some_file() { return files_[random_.below(kFiles)]; }
  ModelMemory& some_old_memory() { return memories_[random_.below(kMemories)]; }
  ModelMemory some_memory() {
    constexpr MemoryKind kKinds[] = {MemoryKind::kDevice, MemoryKind::kDevice, MemoryKind::kPinned,
                                     MemoryKind::kManaged, MemoryKind::kHost};
    return make_memory(some_size(), kKinds[random_.below(5)],
                       static_cast<int>(random_.below(world_.devices)), word());
  }

  void make_stream(size_t at) {
    ModelStream stream;
    stream.device = static_cast<int>(at % world_.devices);
    stream.word = static_cast<uint32_t*>(words_.data()) + at * kWordsApart;
    *stream.word = 0;
    (void)hipSetDevice(stream.device);
    if (hipStreamCreateWithFlags(&stream.stream, hipStreamNonBlocking) != hipSuccess) {
      journal_.fail("no stream");
    }
    world_.streams.push_back(stream);
  }

  void take_step() {
    journal_.begin_step(step_);
    (void)hipSetDevice(static_cast<int>(random_.below(world_.devices)));
    switch (random_.below(20)) {
      case 0:
        return register_file();
      case 1:
        return random_.one_in(3) ? deregister_file() : register_file();
      case 2:
        return register_buffer();
      case 3:
        return deregister_buffer();
      case 4:
        return random_.one_in(4) ? close_driver() : open_driver();
      case 5:
        return random_.one_in(3) ? reopen() : replace_memory();
      case 6:
        return write_outside();
      case 7:
        return truncate_outside();
      case 8:
        return journal_.check(difference(some_file()), "a file, read from outside");
      case 9:
        return journal_.check(difference(some_old_memory()), "a memory");
      case 10:
        return call_wrongly();
      case 11:
        return use_stale_handle();
      case 12:
      case 13:
        if (world_.use_count != 0) step_ += Burst(world_).run();
        return;
      case 14:
        return register_stream();
      default:
        return transfer(random_.one_in(2));
    }
  }

  int report() {
    std::printf("FAILED at step %lu\n", step_ - 1);
    journal_.print();
    std::printf("again:");
    for (const char* name :
         {"HIPFILE_TEST_DIR", "HIPFILE_ENGINE", "HIPFILE_FORCE_COMPAT_MODE", "HIP_PORTABLE_STRICT",
          "HIP_PORTABLE_HAZARDS", "HIP_PORTABLE_DEVICES"}) {
      if (const char* value = std::getenv(name)) std::printf(" %s=%s", name, value);
    }
    std::printf(" random_program --seed %llu --steps %lu\n", static_cast<unsigned long long>(seed_),
                step_ - 1);
    return 1;
  }

  // --- transfers ---

  void transfer(bool is_read) {
    ModelFile& file = some_file();
    ModelMemory& memory = some_old_memory();
    const Range range = some_range(random_, file, memory);
    if (file.handle == nullptr) return register_file();
    journal_.note(
        "%s file %td, memory %td (%s of device %d): %zu bytes at %zu, memory at %zu + %zu",
        is_read ? "read" : "write", &file - files_.data(), &memory - memories_.data(),
        memory_kind_name(memory.buffer->kind()), memory.device, range.size, range.file_offset,
        range.base_offset, range.buffer_offset);
    void* base = memory.buffer->at(range.base_offset);
    const auto file_offset = static_cast<hoff_t>(range.file_offset);
    const auto buffer_offset = static_cast<hoff_t>(range.buffer_offset);
    errno = 0;
    if (is_read) {
      const ssize_t got = hipFileRead(file.handle, base, range.size, file_offset, buffer_offset);
      const size_t count = model_read(file, memory, range);
      journal_.expect(static_cast<ssize_t>(count), got);
      accept_rest(memory, range, count);
      journal_.check(difference(memory), "the memory after it");
    } else {
      journal_.expect(static_cast<ssize_t>(range.size),
                      hipFileWrite(file.handle, base, range.size, file_offset, buffer_offset));
      model_write(file, memory, range);
      if (random_.one_in(2)) journal_.check(difference(file), "the file after it");
    }
  }

  // --- from outside ---

  void write_outside() {
    ModelFile& file = some_file();
    const Bytes bytes(1 + random_.below(20000), static_cast<uint8_t>(word()));
    const size_t offset = random_.below(file.bytes.size() + 1);
    journal_.note("pwrite from outside: %zu bytes at %zu", bytes.size(), offset);
    const Fd other(file.path, O_WRONLY);
    journal_.expect(static_cast<ssize_t>(bytes.size()),
                    ::pwrite(other.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)));
    put(file, offset, bytes.data(), bytes.size());
  }
  void truncate_outside() {
    ModelFile& file = some_file();
    const size_t most = std::min(file.bytes.size() + 50000, kMostBytes);
    const size_t size = random_.one_in(6) ? 0 : random_.below(most);
    journal_.note("truncate from outside: %zu to %zu", file.bytes.size(), size);
    journal_.expect(0, ::truncate(file.path.c_str(), static_cast<off_t>(size)));
    file.bytes.resize(size);
  }
  void reopen() {
    ModelFile& file = some_file();
    journal_.note("close and open file %td", &file - files_.data());
    world_.note_deregistered(file);  // still registered, but its number is another file's now
    open_again(file, coin());
  }
  void replace_memory() {
    ModelMemory& memory = some_old_memory();
    if (memory.registered != 0) deregister(memory);
    journal_.note("another memory %td", &memory - memories_.data());
    memory.buffer.reset();
    memory = some_memory();
  }

  // --- registration ---

  void register_file() {
    ModelFile& file = some_file();
    hipFileDescr_t descr{};
    descr.type = hipFileHandleTypeOpaqueFD;
    descr.handle.fd = file.fd.get();
    hipFileHandle_t handle = nullptr;
    journal_.note("register file %td", &file - files_.data());
    const bool is_known = file.handle != nullptr;
    journal_.expect_code(is_known ? hipFileHandleAlreadyRegistered : hipFileSuccess,
                         hipFileHandleRegister(&handle, &descr));
    if (!is_known) file.handle = handle;
    world_.use_count = std::max<int64_t>(world_.use_count, 1);
  }
  void deregister_file() {
    ModelFile& file = some_file();
    journal_.note("deregister file %td", &file - files_.data());
    hipFileHandleDeregister(file.handle);
    world_.note_deregistered(file);
  }
  void register_buffer() {
    ModelMemory& memory = some_old_memory();
    const size_t length = 1 + random_.below(memory.bytes.size());
    journal_.note("register %zu bytes of memory %td", length, &memory - memories_.data());
    const bool is_known = memory.registered != 0;
    const bool is_host = memory.buffer->kind() == MemoryKind::kHost;
    const hipFileError_t got = hipFileBufRegister(memory.buffer->data(), length, 0);
    world_.use_count = std::max<int64_t>(world_.use_count, 1);
    if (is_host && got.err != hipFileSuccess) return;  // plain memory need not be taken
    journal_.expect_code(is_known ? hipFileMemoryAlreadyRegistered : hipFileSuccess, got);
    if (!is_known) memory.registered = length;
  }
  void deregister(ModelMemory& memory) {
    journal_.note("deregister memory %td", &memory - memories_.data());
    hipFileOpError_t wanted = hipFileSuccess;
    if (world_.use_count == 0) {
      wanted = hipFileDriverClosing;
    } else if (memory.registered == 0) {
      wanted = hipFileMemoryNotRegistered;
    }
    journal_.expect_code(wanted, hipFileBufDeregister(memory.buffer->data()));
    memory.registered = 0;
  }
  void deregister_buffer() { deregister(some_old_memory()); }

  void register_stream() {
    ModelStream& stream = world_.streams[random_.below(kStreams)];
    const auto flags = static_cast<unsigned>(random_.below(HIPFILE_STREAM_FLAGS_MASK + 1));
    const bool is_there = stream.is_registered;
    if (random_.one_in(2)) {
      journal_.note("deregister stream %td", &stream - world_.streams.data());
      journal_.expect_code(is_there ? hipFileSuccess : hipFileInvalidValue,
                           hipFileStreamDeregister(stream.stream));
      stream.is_registered = false;
      stream.flags = 0;
      return;
    }
    journal_.note("register stream %td, flags %x", &stream - world_.streams.data(), flags);
    journal_.expect_code(is_there ? hipFileInvalidValue : hipFileSuccess,
                         hipFileStreamRegister(stream.stream, flags));
    if (!is_there) stream.flags = flags;
    stream.is_registered = true;
  }

  void open_driver() {
    journal_.note("open");
    if (world_.use_count > 5) return;
    journal_.expect_code(hipFileSuccess, hipFileDriverOpen());
    journal_.expect(++world_.use_count, hipFileUseCount());
  }
  void close_driver() {
    journal_.note("close, count %d", static_cast<int>(world_.use_count));
    journal_.expect_code(world_.use_count == 0 ? hipFileDriverNotInitialized : hipFileSuccess,
                         hipFileDriverClose());
    world_.use_count = std::max<int64_t>(0, world_.use_count - 1);
    journal_.expect(world_.use_count, hipFileUseCount());
    if (world_.use_count == 0) world_.note_closed();
  }

  // --- what must be refused ---

  void use_stale_handle() {
    journal_.note("a stale handle");
    ModelMemory& memory = some_old_memory();
    errno = 0;
    const ssize_t got = hipFileRead(world_.stale, memory.buffer->data(), 0, 0, 0);
    if (world_.use_count == 0) return journal_.expect(-1, got, EINVAL);
    // A number that was closed and opened again keeps its old registration until the next one.
    if (got >= 0) return;
    journal_.expect(negated(hipFileHandleNotRegistered), got);
  }

  void call_wrongly() {
    const ModelFile& file = some_file();
    const ModelMemory& memory = some_old_memory();
    if (file.handle == nullptr) return;
    void* base = memory.buffer->data();
    const size_t length = memory.registered != 0 ? memory.registered : memory.bytes.size();
    const bool is_bounded = memory.registered != 0 || memory.buffer->kind() == MemoryKind::kDevice;
    errno = 0;
    journal_.note("wrong arguments");
    switch (random_.below(5)) {
      case 0:
        return journal_.expect(-1, hipFileRead(file.handle, base, 1, -1, 0), EINVAL);
      case 1:
        return journal_.expect(-1, hipFileWrite(file.handle, base, 1, 0, -1), EINVAL);
      case 2:
        return journal_.expect(negated(hipFileInvalidValue),
                               hipFileRead(file.handle, nullptr, 1, 0, 0));
      case 3:
        return journal_.expect(negated(hipFileHandleNotRegistered),
                               hipFileWrite(nullptr, base, 1, 0, 0));
      default:
        if (!is_bounded) return;
        journal_.expect(negated(hipFileInvalidValue),
                        hipFileWrite(file.handle, base, length + 1, 0, 0));
    }
  }

  const uint64_t seed_;
  const unsigned long steps_;
  const TempDir dir_;
  Buffer words_{kStreams * kWordsApart * sizeof(uint32_t), MemoryKind::kPinned};
  World world_;
  Random& random_ = world_.random;
  Journal& journal_ = world_.journal;
  std::vector<ModelFile>& files_ = world_.files;
  std::vector<ModelMemory>& memories_ = world_.memories;
  unsigned long step_ = 0;
};

}  // namespace
}  // namespace hipfile::test

int main(int argc, char** argv) {
  uint64_t seed = std::random_device{}();
  unsigned long steps = 2500;
  for (int at = 1; at + 1 < argc; at += 2) {
    if (std::strcmp(argv[at], "--seed") == 0) seed = std::strtoull(argv[at + 1], nullptr, 10);
    if (std::strcmp(argv[at], "--steps") == 0) steps = std::strtoul(argv[at + 1], nullptr, 10);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return hipfile::test::Program(seed, steps).run();
}
