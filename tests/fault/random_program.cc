// SPDX-License-Identifier: MIT
// A random program against the library, every step held against a model:
//
//   random_program [--seed N] [--steps N]
//
// Files with and without O_DIRECT, memories of every kind on two devices, handles that are stale,
// arguments that are wrong. A step whose outcome is not the model's ends the run, with the last
// steps and a command that plays them again. Files lie where all tests keep theirs.
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include "world.h"

namespace hipfile::test {
namespace {

constexpr size_t kFiles = 5;
constexpr size_t kMemories = 7;
constexpr size_t kMostBytes = 3 << 20;
constexpr size_t kRemembered = 12;  // steps

constexpr ssize_t negated(hipFileOpError_t code) {
  return -static_cast<ssize_t>(static_cast<int>(code));
}

struct Range {
  size_t file_offset = 0;
  size_t base_offset = 0;    // of the pointer that is given, in the memory
  size_t buffer_offset = 0;  // from there
  size_t size = 0;
};

class Program {
 public:
  Program(uint64_t seed, unsigned long steps) : seed_(seed), steps_(steps), random_(seed) {
    int devices = 1;
    if (hipGetDeviceCount(&devices) == hipSuccess) devices_ = static_cast<size_t>(devices);
    for (size_t at = 0; at < kFiles; ++at) {
      files_.push_back(make_file(dir_.file(std::to_string(at)), some_size(), coin(), word()));
    }
    for (size_t at = 0; at < kMemories; ++at) memories_.push_back(some_memory());
  }

  int run() {
    for (step_ = 1; step_ <= steps_ && !has_failed_; ++step_) take_step();
    for (ModelFile& file : files_) check(difference(file), "a file at the end");
    for (ModelMemory& memory : memories_) check(difference(memory), "a memory at the end");
    if (has_failed_) return report();
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
                       static_cast<int>(random_.below(devices_)), word());
  }

  void take_step() {
    (void)hipSetDevice(static_cast<int>(random_.below(devices_)));
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
        return check(difference(some_file()), "a file, read from outside");
      case 9:
        return check(difference(some_old_memory()), "a memory");
      case 10:
        return call_wrongly();
      case 11:
        return use_stale_handle();
      default:
        return transfer(random_.one_in(2));
    }
  }

  // --- checks ---

  [[gnu::format(printf, 2, 3)]] void note(const char* format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    history_.push_back(std::to_string(step_) + ": " + text);
    if (history_.size() > kRemembered) history_.pop_front();
  }
  void check(const std::string& difference, const char* what) {
    if (difference.empty()) return;
    note("%s: %s", what, difference.c_str());
    has_failed_ = true;
  }
  void expect(ssize_t wanted, ssize_t got, int wanted_errno = 0) {
    const int error = errno;
    if (wanted == got && (wanted != -1 || error == wanted_errno)) return;
    note("... gave %zd (errno %d), the model %zd (errno %d)", got, error, wanted, wanted_errno);
    has_failed_ = true;
  }
  void expect_code(hipFileOpError_t wanted, hipFileError_t got) {
    expect(static_cast<ssize_t>(wanted), static_cast<ssize_t>(got.err));
  }

  int report() {
    std::printf("FAILED at step %lu\n", step_ - 1);
    for (const std::string& line : history_) std::printf("  %s\n", line.c_str());
    std::printf("again:");
    for (const char* name : {"HIPFILE_TEST_DIR", "HIPFILE_ENGINE", "HIPFILE_FORCE_COMPAT_MODE",
                             "HIP_PORTABLE_STRICT", "HIP_PORTABLE_DEVICES"}) {
      if (const char* value = std::getenv(name)) std::printf(" %s=%s", name, value);
    }
    std::printf(" random_program --seed %llu --steps %lu\n", static_cast<unsigned long long>(seed_),
                step_ - 1);
    return 1;
  }

  // --- transfers ---

  // Mostly multiples of 4096, often small, sometimes past the end of the file.
  Range some_range(const ModelFile& file, const ModelMemory& memory) {
    Range range;
    const size_t length = memory.bytes.size();
    const size_t unit = random_.one_in(2) ? 4096 : 1;
    const auto aligned = [unit](size_t value) { return value / unit * unit; };
    if (memory.registered == 0 || random_.one_in(4)) {
      range.base_offset = aligned(random_.below(length));
    }
    const bool is_registered_base = range.base_offset == 0 && memory.registered != 0;
    const size_t room = (is_registered_base ? memory.registered : length) - range.base_offset;
    range.buffer_offset = aligned(random_.below(room));
    range.size = aligned(random_.below(room - range.buffer_offset + 1));
    const size_t end = file.bytes.size() + (random_.one_in(4) ? 100000 : 1);
    range.file_offset = aligned(random_.below(std::min(end, kMostBytes)));
    return range;
  }

  void transfer(bool is_read) {
    ModelFile& file = some_file();
    ModelMemory& memory = some_old_memory();
    const Range range = some_range(file, memory);
    if (file.handle == nullptr) return register_file();
    note("%s file %td, memory %td (%s of device %d): %zu bytes at %zu, memory at %zu + %zu",
         is_read ? "read" : "write", &file - files_.data(), &memory - memories_.data(),
         memory_kind_name(memory.buffer->kind()), memory.device, range.size, range.file_offset,
         range.base_offset, range.buffer_offset);
    void* base = memory.buffer->at(range.base_offset);
    const auto file_offset = static_cast<hoff_t>(range.file_offset);
    const auto buffer_offset = static_cast<hoff_t>(range.buffer_offset);
    uint8_t* bytes = memory.bytes.data() + range.base_offset + range.buffer_offset;
    errno = 0;
    if (is_read) {
      const size_t there = file.bytes.size() - std::min(file.bytes.size(), range.file_offset);
      const size_t count = std::min(there, range.size);
      expect(static_cast<ssize_t>(count),
             hipFileRead(file.handle, base, range.size, file_offset, buffer_offset));
      std::copy_n(file.bytes.data() + std::min(file.bytes.size(), range.file_offset), count, bytes);
      if (count != 0) accept_rest(memory, range, count);
      check(difference(memory), "the memory after it");
    } else {
      expect(static_cast<ssize_t>(range.size),
             hipFileWrite(file.handle, base, range.size, file_offset, buffer_offset));
      put(file, range.file_offset, bytes, range.size);
      if (random_.one_in(2)) check(difference(file), "the file after it");
    }
  }

  // O_DIRECT moves whole blocks, and the kernel clears what it finds of holes behind the end:
  // behind the count, and never beyond the request, a byte is anything up to the end of its block,
  // then what it was or zero. The model takes it over.
  static void accept_rest(ModelMemory& memory, const Range& range, size_t count) {
    const size_t begin = range.base_offset + range.buffer_offset + count;
    const size_t to_border = (4096 - (range.file_offset + count) % 4096) % 4096;
    const Bytes there = memory.buffer->get(begin, range.size - count);
    for (size_t at = 0; at < there.size(); ++at) {
      if (at < to_border || there[at] == 0) memory.bytes[begin + at] = there[at];
    }
  }

  static void put(ModelFile& file, size_t offset, const uint8_t* bytes, size_t size) {
    if (size == 0) return;
    file.bytes.resize(std::max(file.bytes.size(), offset + size));
    std::copy_n(bytes, size, file.bytes.data() + offset);
  }

  // --- from outside ---

  void write_outside() {
    ModelFile& file = some_file();
    const Bytes bytes(1 + random_.below(20000), static_cast<uint8_t>(word()));
    const size_t offset = random_.below(file.bytes.size() + 1);
    note("pwrite from outside: %zu bytes at %zu", bytes.size(), offset);
    const Fd other(file.path, O_WRONLY);
    expect(static_cast<ssize_t>(bytes.size()),
           ::pwrite(other.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)));
    put(file, offset, bytes.data(), bytes.size());
  }
  void truncate_outside() {
    ModelFile& file = some_file();
    const size_t most = std::min(file.bytes.size() + 50000, kMostBytes);
    const size_t size = random_.one_in(6) ? 0 : random_.below(most);
    note("truncate from outside: %zu to %zu", file.bytes.size(), size);
    expect(0, ::truncate(file.path.c_str(), static_cast<off_t>(size)));
    file.bytes.resize(size);
  }
  void reopen() {
    ModelFile& file = some_file();
    note("close and open file %td", &file - files_.data());
    if (file.handle != nullptr) stale_ = file.handle;
    file.handle = nullptr;  // still registered, but its number is another file's now
    open_again(file, coin());
  }
  void replace_memory() {
    ModelMemory& memory = some_old_memory();
    if (memory.registered != 0) deregister(memory);
    note("another memory %td", &memory - memories_.data());
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
    note("register file %td", &file - files_.data());
    const bool is_known = file.handle != nullptr;
    expect_code(is_known ? hipFileHandleAlreadyRegistered : hipFileSuccess,
                hipFileHandleRegister(&handle, &descr));
    if (!is_known) file.handle = handle;
    use_count_ = std::max<int64_t>(use_count_, 1);
  }
  void deregister_file() {
    ModelFile& file = some_file();
    note("deregister file %td", &file - files_.data());
    hipFileHandleDeregister(file.handle);
    if (file.handle != nullptr) stale_ = file.handle;
    file.handle = nullptr;
  }
  void register_buffer() {
    ModelMemory& memory = some_old_memory();
    const size_t length = 1 + random_.below(memory.bytes.size());
    note("register %zu bytes of memory %td", length, &memory - memories_.data());
    const bool is_known = memory.registered != 0;
    const bool is_host = memory.buffer->kind() == MemoryKind::kHost;
    const hipFileError_t got = hipFileBufRegister(memory.buffer->data(), length, 0);
    use_count_ = std::max<int64_t>(use_count_, 1);
    if (is_host && got.err != hipFileSuccess) return;  // plain memory need not be taken
    expect_code(is_known ? hipFileMemoryAlreadyRegistered : hipFileSuccess, got);
    if (!is_known) memory.registered = length;
  }
  void deregister(ModelMemory& memory) {
    note("deregister memory %td", &memory - memories_.data());
    hipFileOpError_t wanted = hipFileSuccess;
    if (use_count_ == 0) {
      wanted = hipFileDriverClosing;
    } else if (memory.registered == 0) {
      wanted = hipFileMemoryNotRegistered;
    }
    expect_code(wanted, hipFileBufDeregister(memory.buffer->data()));
    memory.registered = 0;
  }
  void deregister_buffer() { deregister(some_old_memory()); }

  void open_driver() {
    note("open");
    if (use_count_ > 5) return;
    expect_code(hipFileSuccess, hipFileDriverOpen());
    expect(++use_count_, hipFileUseCount());
  }
  void close_driver() {
    note("close, count %d", static_cast<int>(use_count_));
    expect_code(use_count_ == 0 ? hipFileDriverNotInitialized : hipFileSuccess,
                hipFileDriverClose());
    use_count_ = std::max<int64_t>(0, use_count_ - 1);
    expect(use_count_, hipFileUseCount());
    if (use_count_ != 0) return;
    for (ModelFile& file : files_) {
      if (file.handle != nullptr) stale_ = file.handle;
      file.handle = nullptr;
    }
    for (ModelMemory& memory : memories_) memory.registered = 0;
  }

  // --- what must be refused ---

  void use_stale_handle() {
    note("a stale handle");
    ModelMemory& memory = some_old_memory();
    errno = 0;
    const ssize_t got = hipFileRead(stale_, memory.buffer->data(), 0, 0, 0);
    if (use_count_ == 0) return expect(-1, got, EINVAL);
    // A number that was closed and opened again keeps its old registration until the next one.
    if (got >= 0) return;
    expect(negated(hipFileHandleNotRegistered), got);
  }

  void call_wrongly() {
    const ModelFile& file = some_file();
    const ModelMemory& memory = some_old_memory();
    if (file.handle == nullptr) return;
    void* base = memory.buffer->data();
    const size_t length = memory.registered != 0 ? memory.registered : memory.bytes.size();
    const bool is_bounded = memory.registered != 0 || memory.buffer->kind() == MemoryKind::kDevice;
    errno = 0;
    note("wrong arguments");
    switch (random_.below(5)) {
      case 0:
        return expect(-1, hipFileRead(file.handle, base, 1, -1, 0), EINVAL);
      case 1:
        return expect(-1, hipFileWrite(file.handle, base, 1, 0, -1), EINVAL);
      case 2:
        return expect(negated(hipFileInvalidValue), hipFileRead(file.handle, nullptr, 1, 0, 0));
      case 3:
        return expect(negated(hipFileHandleNotRegistered), hipFileWrite(nullptr, base, 1, 0, 0));
      default:
        if (!is_bounded) return;
        expect(negated(hipFileInvalidValue), hipFileWrite(file.handle, base, length + 1, 0, 0));
    }
  }

  const uint64_t seed_;
  const unsigned long steps_;
  Random random_;
  const TempDir dir_;
  size_t devices_ = 1;
  std::vector<ModelFile> files_;
  std::vector<ModelMemory> memories_;
  int64_t use_count_ = 0;
  hipFileHandle_t stale_ = nullptr;
  unsigned long step_ = 0;
  std::deque<std::string> history_;
  bool has_failed_ = false;
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
