// SPDX-License-Identifier: MIT
// Probes with operations in flight: what becomes of them when the process ends, becomes another
// program, or is forked first.
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "in_flight.h"
#include "probes.h"

namespace hipfile::test {
namespace {

using Clock = std::chrono::steady_clock;

struct AtExit {
  std::string path;
  InFlight* flight = nullptr;
  Clock::time_point begin;
};

AtExit& at_exit() {
  static AtExit& instance = *new AtExit;
  return instance;
}

void call_all(const char* who) {
  if (at_exit().flight == nullptr) return;
  const std::string wrong = call_at_exit(at_exit().path, *at_exit().flight);
  std::printf("%s %s\n", who, wrong.empty() ? "right" : wrong.c_str());
  std::fflush(stdout);
}

struct AtTheEnd {
  ~AtTheEnd() { call_all("static"); }
} g_at_the_end;

void tell_time() {
  const auto passed = Clock::now() - at_exit().begin;
  std::printf("ms %d\n",
              int(std::chrono::duration_cast<std::chrono::milliseconds>(passed).count()));
  std::fflush(stdout);
}

// exit-flight FILE PARTS MS [calls|close]: ends with these parts in flight, that long after. With
// `calls` exit handlers of before the runtime, between it and the library, and after both, and a
// static destructor, call the library once more. With `close` one of before the runtime closes the
// driver.
int probe_exit(const std::vector<std::string>& arguments) {
  const std::string end = arguments.size() > 3 ? arguments[3] : "";
  const bool has_calls = end == "calls";
  std::atexit(&tell_time);  // last
  if (has_calls) std::atexit([] { call_all("early"); });
  if (end == "close") std::atexit([] { std::printf("closed %d\n", hipFileDriverClose().err); });
  (void)hipFree(nullptr);
  if (has_calls) std::atexit([] { call_all("middle"); });
  const auto parts = static_cast<unsigned>(std::stoul(arguments.at(1)));
  auto* flight = new InFlight(arguments.at(0), parts);
  if (has_calls) std::atexit([] { call_all("late"); });
  ::usleep(static_cast<useconds_t>(std::stoul(arguments.at(2))) * 1000);
  at_exit() = {arguments.at(0), has_calls ? flight : nullptr, Clock::now()};
  return 0;
}

// flight FILE: everything, to the end, by a thread that has called nothing of HIP before.
int probe_flight(const std::vector<std::string>& arguments) {
  std::string wrong;
  std::thread([&] { wrong = InFlight(arguments.at(0)).finish(); }).join();
  std::printf("flight %s\n", wrong.empty() ? "right" : wrong.c_str());
  return 0;
}

// fork-flight FILE: opens the library, touches no GPU, and forks; the child flies.
int probe_fork(const std::vector<std::string>& arguments) {
  (void)hipFileDriverOpen().err;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kChildLimit);
    (void)probe_flight(arguments);
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// fork-exit FILE: forks with everything in flight; the child ends as a program does.
int probe_fork_exit(const std::vector<std::string>& arguments) {
  InFlight flight(arguments.at(0));
  const int child =
      step_of_child([]() -> int { std::exit(hipFileDriverOpen().err == hipFileSuccess ? 0 : 1); });
  const std::string wrong = flight.finish();
  std::printf("child %d\nflight %s\n", child, wrong.empty() ? "right" : wrong.c_str());
  return 0;
}

// after-exec FILE: what a program finds that was started by another one, and that it works.
int probe_after_exec(const std::vector<std::string>& arguments) {
  std::printf("descriptors %zu\n", open_descriptors());
  return probe_flight(arguments);
}

// exec-flight FILE: becomes another program while everything is in flight.
int probe_exec(const std::vector<std::string>& arguments) {
  const InFlight& flight = *new InFlight(arguments.at(0));
  (void)flight;
  ::execl("/proc/self/exe", "/proc/self/exe", "--probe", "after-exec", arguments.at(0).c_str(),
          static_cast<char*>(nullptr));
  return 1;
}

// close-in-host-function FILE: closes the library in a stream, before it met a runtime.
int probe_close(const std::vector<std::string>& arguments) {
  (void)hipFileDriverOpen().err;
  hipFileError_t closed = {};
  const auto close = [](void* context) {
    *static_cast<hipFileError_t*>(context) = hipFileDriverClose();
  };
  if (hipLaunchHostFunc(nullptr, close, &closed) != hipSuccess) return 1;
  if (hipStreamSynchronize(nullptr) != hipSuccess) return 2;
  std::printf("closed %d count %ld\n", closed.err, hipFileUseCount());
  return probe_flight(arguments);
}

}  // namespace

const std::vector<Probe>& flight_probes() {
  static const std::vector<Probe>& probes = *new std::vector<Probe>{
      {"exit-flight", probe_exit},
      {"fork-exit", probe_fork_exit},
      {"flight", probe_flight},
      {"fork-flight", probe_fork},
      {"after-exec", probe_after_exec},
      {"exec-flight", probe_exec},
      {"close-in-host-function", probe_close},
  };
  return probes;
}

}  // namespace hipfile::test
