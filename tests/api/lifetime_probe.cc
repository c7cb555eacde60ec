// SPDX-License-Identifier: MIT
// A program that meets the library and a runtime in one order or another, and ends:
//
//   lifetime_probe FILE LIBRARY RUNTIME STEP...
//
// It is linked with no runtime. With the library it is linked in one of its two builds; the other
// opens LIBRARY, as a Python module would: without its headers, results as plain numbers.
//
//   library   find the library          register  register FILE
//   runtime   open RUNTIME              memory    allocate 1 MiB of it; without it, host memory
//   read      read 4096 bytes           read-all  read 1 MiB
//   hang      read on another thread, and go on when the runtime says that it hangs
//   early, late   an exit handler that calls the library
//   clock     an exit handler that prints the time since the end of main
//   static    the same from a static destructor
//   quit      _exit, after a while
//   set-error   fail a call of the runtime
//   last-error  print the thread's last error of the runtime
//   fork      go on in a child, and end as it ends
//   unload    dlclose of library and runtime
//   reload    a thousand times: dlopen of both, read by every kind of call, dlclose of both
//   maps      print which libraries are mapped
#include <dlfcn.h>
#include <fcntl.h>
#include <hipfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

constexpr size_t kSize = 1 << 20;

struct Library {
  void* handle = nullptr;
  long (*read)(void*, void*, size_t, long, long) = nullptr;
  hipFileError_t (*register_file)(hipFileHandle_t*, hipFileDescr_t*) = nullptr;
  hipFileError_t (*register_buffer)(const void*, size_t, int) = nullptr;
  hipFileError_t (*open)() = nullptr;
  hipFileError_t (*close)() = nullptr;
  decltype(&hipFileReadAsync) read_async = nullptr;
  decltype(&hipFileBatchIOSetUp) set_up = nullptr;
  decltype(&hipFileBatchIOSubmit) submit = nullptr;
  decltype(&hipFileBatchIOGetStatus) get_status = nullptr;
  decltype(&hipFileBatchIODestroy) destroy = nullptr;
} g_library;

void* g_runtime = nullptr;
void* g_memory = nullptr;
hipFileHandle_t g_file = nullptr;
int g_fd = -1;
long g_main_end_ms = 0;

long now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, errno != 0 ? std::strerror(errno) : "failed");
  ::_exit(3);
}

template <typename Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(g_library.handle, name));
  if (function == nullptr) give_up(name);
}

void find_functions() {
  find("hipFileRead", g_library.read);
  find("hipFileHandleRegister", g_library.register_file);
  find("hipFileBufRegister", g_library.register_buffer);
  find("hipFileDriverOpen", g_library.open);
  find("hipFileDriverClose", g_library.close);
  find("hipFileReadAsync", g_library.read_async);
  find("hipFileBatchIOSetUp", g_library.set_up);
  find("hipFileBatchIOSubmit", g_library.submit);
  find("hipFileBatchIOGetStatus", g_library.get_status);
  find("hipFileBatchIODestroy", g_library.destroy);
}

void find_library(const char* path) {
  const bool is_linked = ::dlsym(RTLD_DEFAULT, "hipFileRead") != nullptr;
  g_library.handle = ::dlopen(is_linked ? nullptr : path, RTLD_NOW | RTLD_LOCAL);
  if (g_library.handle == nullptr) give_up(path);
  find_functions();
}

void register_file(const char* path) {
  g_fd = ::open(path, O_RDWR);
  if (g_fd < 0) give_up(path);
  hipFileDescr_t descr{};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = g_fd;
  const int code = g_library.register_file(&g_file, &descr).err;
  std::printf("register %d\n", code);
}

void allocate() {
  if (g_runtime == nullptr) {
    g_memory = std::calloc(1, kSize);
    return;
  }
  const auto allocate = reinterpret_cast<int (*)(void**, size_t)>(::dlsym(g_runtime, "hipMalloc"));
  if (allocate == nullptr || allocate(&g_memory, kSize) != 0) give_up("hipMalloc");
}

void read_and_hang() {
  std::thread([] { g_library.read(g_file, g_memory, 4096, 0, 0); }).detach();
  const char* events = std::getenv("HIPFILE_TEST_EVENTS");
  for (int tries = 0; tries < 3000; ++tries) {
    std::ifstream file(events != nullptr ? events : "");
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("hang ", 0) == 0) return;
    }
    ::usleep(10000);
  }
  give_up("nothing hangs");
}

void call_all(const char* who) {
  errno = 0;
  const long count = g_library.read(g_file, g_memory, 4096, 0, 0);
  const int error = count == -1 ? errno : 0;
  const hipFileError_t registered = g_library.register_buffer(g_memory, 4096, 0);
  const hipFileError_t opened = g_library.open();
  const hipFileError_t closed = g_library.close();
  std::printf("%s: read %ld errno %d buffer %d open %d close %d\n", who, count, error,
              registered.err, opened.err, closed.err);
  std::fflush(stdout);
}

struct AtTheEnd {
  bool is_wanted = false;
  ~AtTheEnd() {
    if (is_wanted) call_all("static");
  }
} g_at_the_end;

// ---- reload

constexpr int kRounds = 1000;
constexpr int kWarmUp = 100;

bool reads_in_stream() {
  const auto synchronize =
      reinterpret_cast<int (*)(void*)>(::dlsym(g_runtime, "hipStreamSynchronize"));
  size_t size = kSize;
  hoff_t from = 0, in = 0;
  ssize_t count = 0;
  const hipFileError_t queued =
      g_library.read_async(g_file, g_memory, &size, &from, &in, &count, nullptr);
  return queued.err == hipFileSuccess && synchronize(nullptr) == 0 && count == ssize_t(kSize);
}

bool reads_in_batch() {
  hipFileBatchHandle_t batch = nullptr;
  hipFileIOParams_t params = {};
  params.mode = hipFileBatch;
  params.opcode = hipFileBatchRead;
  params.fh = g_file;
  params.u.batch.devPtr_base = g_memory;
  params.u.batch.size = 4096;
  hipFileIOEvents_t event = {};
  unsigned count = 1;
  if (g_library.set_up(&batch, 16).err != hipFileSuccess) return false;
  const bool is_read =
      g_library.submit(batch, 1, &params, 0).err == hipFileSuccess &&
      g_library.get_status(batch, 1, &count, &event, nullptr).err == hipFileSuccess && count == 1 &&
      event.status == hipFileComplete && event.ret == 4096;
  g_library.destroy(batch);
  return is_read;
}

struct Footprint {
  long threads = 0, descriptors = 0, kib = 0;
};

Footprint footprint() {
  Footprint found;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "Threads:") status >> found.threads;
    if (word == "VmRSS:") status >> found.kib;
  }
  for (int fd = 0; fd < 1024; ++fd) found.descriptors += ::fcntl(fd, F_GETFD) != -1;
  return found;
}

// The driver is closed now and again: with the library in use, and without, it may be let go.
void reload(const char* library, const char* runtime) {
  Footprint warm;
  for (int round = 0; round < kRounds + kWarmUp; ++round) {
    if (round == kWarmUp) warm = footprint();
    g_library.handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* const again = ::dlopen(runtime, RTLD_NOW | RTLD_LOCAL);
    if (g_library.handle == nullptr || again == nullptr) give_up(::dlerror());
    find_functions();
    if (g_library.read(g_file, g_memory, 4096, 0, 0) != 4096) give_up("hipFileRead");
    if (!reads_in_stream()) give_up("hipFileReadAsync");
    if (!reads_in_batch()) give_up("a batch");
    if (round % 20 == 19) {
      hipFileDescr_t descr{};
      descr.type = hipFileHandleTypeOpaqueFD;
      descr.handle.fd = g_fd;
      if (g_library.close().err != hipFileSuccess) give_up("hipFileDriverClose");
      if (g_library.register_file(&g_file, &descr).err != hipFileSuccess) give_up("register");
    }
    ::dlclose(again);
    ::dlclose(g_library.handle);
  }
  const Footprint now = footprint();
  std::printf("grown: threads %ld descriptors %ld KiB %ld\n", now.threads - warm.threads,
              now.descriptors - warm.descriptors, now.kib - warm.kib);
}

void print_maps() {
  std::ifstream file("/proc/self/maps");
  const std::string maps{std::istreambuf_iterator<char>(file), {}};
  std::printf("mapped:");
  for (const char* name : {"libhipfile", "libamdhip64", "libhip_portable"}) {
    if (maps.find(name) != std::string::npos) std::printf(" %s", name);
  }
  std::printf("\n");
}

void set_last_error() {
  const auto set_device = reinterpret_cast<int (*)(int)>(::dlsym(g_runtime, "hipSetDevice"));
  if (set_device == nullptr || set_device(1000) == 0) give_up("hipSetDevice");
}

void print_last_error() {
  const auto peek = reinterpret_cast<int (*)()>(::dlsym(g_runtime, "hipPeekAtLastError"));
  if (peek == nullptr) give_up("hipPeekAtLastError");
  std::printf("last error %d\n", peek());
}

void go_on_in_child() {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) return;
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) give_up("fork");
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void run(const std::string& step, char** arguments) {
  if (step == "library") return find_library(arguments[2]);
  if (step == "register") return register_file(arguments[1]);
  if (step == "reload") return reload(arguments[2], arguments[3]);
  if (step == "memory") return allocate();
  if (step == "hang") return read_and_hang();
  if (step == "maps") return print_maps();
  if (step == "fork") return go_on_in_child();
  if (step == "last-error") return print_last_error();
  if (step == "set-error") return set_last_error();
  if (step == "runtime") {
    g_runtime = ::dlopen(arguments[3], RTLD_NOW | RTLD_LOCAL);
    if (g_runtime == nullptr) give_up(::dlerror());
  } else if (step == "read" || step == "read-all") {
    const size_t size = step == "read" ? 4096 : kSize;
    std::printf("read %ld\n", g_library.read(g_file, g_memory, size, 0, 0));
  } else if (step == "early") {
    (void)std::atexit([] { call_all("early"); });
  } else if (step == "late") {
    (void)std::atexit([] { call_all("late"); });
  } else if (step == "clock") {
    (void)std::atexit([] { std::printf("waited %ld ms\n", now_ms() - g_main_end_ms); });
  } else if (step == "quit") {
    ::usleep(600000);
    ::_exit(0);
  } else if (step == "static") {
    g_at_the_end.is_wanted = true;
  } else if (step == "unload") {
    if (g_runtime != nullptr) ::dlclose(g_runtime);
    ::dlclose(g_library.handle);
  } else {
    give_up(step.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) give_up("usage: lifetime_probe FILE LIBRARY RUNTIME STEP...");
  for (int at = 4; at < argc; ++at) run(argv[at], argv);
  std::fflush(stdout);
  g_main_end_ms = now_ms();
  return 0;
}
