// SPDX-License-Identifier: MIT
// The probes. They use no GoogleTest: their output is what the parent checks.
#include "probes.h"

#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <hipfile_ext.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device_buffer.h"
#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

hipFileHandle_t register_or_exit(int fd) {
  hipFileDescr_t descr{};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  hipFileHandle_t handle = nullptr;
  const hipFileError_t error = hipFileHandleRegister(&handle, &descr);
  if (error.err == hipFileSuccess) return handle;
  std::printf("register %d\n", error.err);
  std::fflush(stdout);
  ::_exit(3);
}

MemoryKind kind_of(const std::string& name) {
  return name == "host" ? MemoryKind::kHost : MemoryKind::kDevice;
}

// read FILE KIND SIZE OFFSET: registers FILE, reads, prints the result, the bytes' state, the
// backend and why not the fast path.
int probe_read(const std::vector<std::string>& arguments) {
  const Fd fd(arguments.at(0), O_RDWR);
  const size_t size = std::strtoul(arguments.at(2).c_str(), nullptr, 10);
  const hoff_t offset = std::strtol(arguments.at(3).c_str(), nullptr, 10);
  hipFileHandle_t handle = register_or_exit(fd.get());
  Buffer buffer(size, kind_of(arguments.at(1)));
  buffer.fill(0);
  errno = 0;
  const ssize_t n = hipFileRead(handle, buffer.data(), size, offset, 0);
  std::printf("read %zd\n", n);
  if (n > 0) {
    const size_t count = static_cast<size_t>(n);
    const bool is_right =
        buffer.get(0, count) == make_pattern(count, 1, static_cast<uint64_t>(offset));
    std::printf("data %s\n", is_right ? "right" : "wrong");
  }
  hipFileExtPath_t path{};
  const hipFileError_t error =
      hipFileExtQueryPath(handle, buffer.data(), size, offset, 0, hipFileBatchRead, &path);
  std::printf("query %d backend %s fastpath %d host %d bounce %d\n", error.err,
              hipFileExtBackendName(path.backend), path.refusals[hipFileExtBackendFastpath],
              path.refusals[hipFileExtBackendHost], path.refusals[hipFileExtBackendBounce]);
  std::printf("engine %s\n", hipFileExtEngine(nullptr));
  return 0;
}

// late-setenv FILE: the environment is read once; a change after the first call does nothing.
int probe_late_setenv(const std::vector<std::string>& arguments) {
  (void)hipFileDriverOpen().err;
  ::setenv("HIPFILE_ALLOW_COMPAT_MODE", "false", 1);
  ::setenv("HIPFILE_HOST", "false", 1);
  return probe_read(arguments);
}

// register DEVICE|HOST: registers memory, prints the codes.
int probe_register(const std::vector<std::string>& arguments) {
  Buffer buffer(4096, kind_of(arguments.at(0)));
  const hipFileError_t error = hipFileBufRegister(buffer.data(), 4096, 0);
  std::printf("register %d hip %d\n", error.err, error.hip_drv_err);
  return 0;
}

// fork-early FILE: registers FILE, touches no GPU, forks. The child works as a process of its own.
int probe_fork_early(const std::vector<std::string>& arguments) {
  const Fd fd(arguments.at(0), O_RDWR);
  register_or_exit(fd.get());
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kChildLimit);
    const int result = probe_read(arguments);
    std::fflush(stdout);
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// exit-open FILE: ends with everything open, and with a thread of I/O running.
int probe_exit_open(const std::vector<std::string>& arguments) {
  const Fd fd(arguments.at(0), O_RDWR);
  hipFileHandle_t handle = register_or_exit(fd.get());
  static Buffer& buffer = *new Buffer(1 << 20);
  (void)hipFileBufRegister(buffer.data(), 1 << 20, 0).err;
  std::printf("read %zd\n", hipFileRead(handle, buffer.data(), 4096, 0, 0));
  std::atexit([] { std::printf("closed %d\n", hipFileDriverClose().err); });
  return 0;
}

// stats FILE DEVICE: reads 8 KiB into memory of that device (-1: does nothing), prints statistics.
int probe_stats(const std::vector<std::string>& arguments) {
  const int device = std::stoi(arguments.at(1));
  if (device >= 0) {
    if (hipSetDevice(device) != hipSuccess) return 1;
    const Fd fd(arguments.at(0), O_RDWR);
    const Buffer buffer(8192);
    if (hipFileRead(register_or_exit(fd.get()), buffer.data(), 8192, 0, 0) != 8192) return 1;
  }
  hipFileStatsLevel3_t level;
  if (hipFileGetStatsL3(&level).err != hipFileSuccess) return 1;
  const hipFileStatsLevel1_t& basic = level.detailed.basic;
  std::printf("reads %lu bytes %lu files %lu writes %lu gpus %u\n", basic.read_ops.ok,
              basic.read_bytes, basic.hdl_register_ops.ok, basic.write_ops.ok, level.num_gpus);
  for (int gpu = 0; gpu < HIPFILE_MAX_GPUS; ++gpu) {
    if (level.per_gpu_stats[gpu].n_total_reads == 0) continue;
    std::printf("GPU %d %lu\n", gpu, level.per_gpu_stats[gpu].read_bytes);
  }
  return 0;
}

// parameters: all of them, as a Get while closed answers.
int probe_parameters(const std::vector<std::string>&) {
  for (int id = 0; id < 12; ++id) {
    size_t number = 0;
    bool truth = false;
    (void)hipFileGetParameterSizeT(static_cast<hipFileSizeTConfigParameter_t>(id), &number).err;
    (void)hipFileGetParameterBool(static_cast<hipFileBoolConfigParameter_t>(id), &truth).err;
    std::printf("size %d %zu\nbool %d %d\n", id, number, id, truth ? 1 : 0);
  }
  for (int id = 0; id < 3; ++id) {
    char text[4096] = "";
    const auto param = static_cast<hipFileStringConfigParameter_t>(id);
    (void)hipFileGetParameterString(param, text, sizeof text).err;
    std::printf("string %d %s\n", id, text);
  }
  return 0;
}

constexpr Probe kProbes[] = {
    {"read", probe_read},
    {"late-setenv", probe_late_setenv},
    {"register", probe_register},
    {"fork-early", probe_fork_early},
    {"exit-open", probe_exit_open},
    {"stats", probe_stats},
    {"parameters", probe_parameters},
};

}  // namespace

int run_probe(const std::string& name, const std::vector<std::string>& arguments) {
  for (const Probe& candidate : kProbes) {
    if (name == candidate.name) return candidate.run(arguments);
  }
  for (const Probe& candidate : flight_probes()) {
    if (name == candidate.name) return candidate.run(arguments);
  }
  std::fprintf(stderr, "no probe is called %s\n", name.c_str());
  return 2;
}

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kMostTries = 4;
#else
constexpr unsigned kMostTries = 1;
#endif
constexpr int kSignalled = 1000;

int try_in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kChildLimit / kMostTries);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

int step_of_child(const std::function<int()>& body) {
  int step = kSignalled + SIGALRM;
  for (unsigned tries = 0; tries < kMostTries && step == kSignalled + SIGALRM; ++tries) {
    step = try_in_child(body);
  }
  return step;
}

ProcessResult probe(const std::string& name, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) {
  std::vector<std::string> command{"/proc/self/exe", "--probe", name};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.environment = environment;
  options.timeout_s = 2 * kChildLimit;
  return run_process(command, options);
}

}  // namespace hipfile::test
