// SPDX-License-Identifier: MIT
#include "start.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "device.h"
#include "file.h"
#include "workloads.h"

namespace ais_bench {
namespace {

constexpr char kSelf[] = "/proc/self/exe";

// Nanoseconds since the start of the process.
struct Stages {
  int64_t to_main = 0;
  int64_t to_device = 0;
  int64_t to_bytes = 0;
};

// What the process wrote, after it has ended well.
std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_errno("cannot make a pipe", errno);
  posix_spawn_file_actions_t actions;
  int error = ::posix_spawn_file_actions_init(&actions);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (error == 0) {
    error = ::posix_spawn(&pid, kSelf, &actions, nullptr, arguments.data(), environ);
  }
  if (error != 0) fail_errno("cannot start a process", error);
  (void)::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::array<char, 256> buffer{};
  size_t length = 0;
  ssize_t got = 0;
  while (length < buffer.size() - 1 &&
         (got = ::read(ends[0], buffer.data() + length, buffer.size() - 1 - length)) > 0) {
    length += static_cast<size_t>(got);
  }
  ::close(ends[0]);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) fail("a child process failed");
  return std::string(buffer.data(), length);
}

Stages time_child(const Options& options, const File& file, Beside beside) {
  std::vector<std::string> words = {"ais-bench",
                                    "child",
                                    file.path(),
                                    "--call",
                                    std::to_string(options.call),
                                    "--gpu",
                                    std::to_string(options.device),
                                    "--beside",
                                    beside == Beside::kHand ? "hand" : "ceiling"};
  if (options.is_direct) words.push_back("--direct");
  if (!options.is_registered) words.push_back("--unregistered");
  if (options.is_cold) file.drop();
  const int64_t begin = monotonic_ns();
  const std::string text = output_of(std::move(words));
  Stages stages;
  if (std::sscanf(text.c_str(), "%" SCNd64 " %" SCNd64 " %" SCNd64, &stages.to_main,
                  &stages.to_device, &stages.to_bytes) != 3) {
    fail("a child process said nothing");
  }
  stages.to_main -= begin;
  stages.to_device -= begin;
  stages.to_bytes -= begin;
  return stages;
}

Sample sample_of(int64_t ns) { return {static_cast<double>(ns) / 1e9, 0}; }

void read_by_hipfile(const Options& options, int fd, char* memory) {
  hipFileDescr_t descr = {};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  hipFileHandle_t handle = nullptr;
  check(hipFileHandleRegister(&handle, &descr), "hipFileHandleRegister");
  if (options.is_registered) {
    check(hipFileBufRegister(memory, options.call, 0), "hipFileBufRegister");
  }
  if (hipFileRead(handle, memory, options.call, 0, 0) != static_cast<ssize_t>(options.call)) {
    fail("hipFileRead moved less than it should");
  }
}

}  // namespace

std::vector<Figure> measure_start(const Options& given) {
  Options options = given;
  options.size = std::max<size_t>(options.size, (options.call + 4095) / 4096 * 4096);
  const File file(options);
  const std::string bytes = std::to_string(options.call) + " bytes in device memory";
  Figure all{"start to " + bytes, "by hand", options.call, 1, {}, {}, {}};
  Figure to_main{"start to main()", "", options.call, 1, {}, {}, {}};
  Figure to_device{"start to a device and its memory", "", options.call, 1, {}, {}, {}};
  all.first.push_back(sample_of(time_child(options, file, Beside::kCeiling).to_bytes));
  for (unsigned pair = 0; pair < options.runs; ++pair) {
    for (const bool is_first : {true, false}) {
      const bool is_ours = is_first == (pair % 2 == 0);
      const Stages stages = time_child(options, file, is_ours ? Beside::kCeiling : Beside::kHand);
      (is_ours ? all.samples : all.besides).push_back(sample_of(stages.to_bytes));
      if (!is_ours) continue;
      to_main.samples.push_back(sample_of(stages.to_main));
      to_device.samples.push_back(sample_of(stages.to_device));
    }
  }
  return {to_main, to_device, all};
}

int run_child(const Options& options, int64_t main_ns) {
  const Device device(options.device);
  const Memory memory(device, Memory::Kind::kDevice, options.call);
  const int64_t device_ns = monotonic_ns();
  const File file(options);
  const auto bytes = std::make_unique<char[]>(options.call);
  const int fd = file.descriptor(options.is_direct);
  if (options.beside == Beside::kHand) {
    read_fully(file.buffered(), bytes.get(), options.call, 0);
    device.check(
        device.hip().Memcpy(memory.data(), bytes.get(), options.call, hipMemcpyHostToDevice),
        "cannot copy");
  } else {
    read_by_hipfile(options, fd, memory.data());
  }
  const int64_t bytes_ns = monotonic_ns();
  const auto there = std::make_unique<char[]>(options.call);
  device.check(device.hip().Memcpy(there.get(), memory.data(), options.call, hipMemcpyDeviceToHost),
               "cannot copy");
  read_fully(file.buffered(), bytes.get(), options.call, 0);
  if (std::memcmp(there.get(), bytes.get(), options.call) != 0) fail("the bytes are wrong");
  std::printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", main_ns, device_ns, bytes_ns);
  std::fflush(stdout);
  ::_exit(0);  // the library is left open, as many programs do
}

}  // namespace ais_bench
