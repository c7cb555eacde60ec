// SPDX-License-Identifier: MIT
// Children write to unlinked temporary files rather than to pipes: nothing can block on a full one.
// Between fork and exec a child takes no memory, since a lock of another thread may stay held in
// it.
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

namespace hipfile::test {
namespace {

std::string take_output(int* output) {
  std::string text;
  const int fd = std::exchange(*output, -1);
  if (fd < 0) return text;
  char buffer[4096];
  off_t offset = 0;
  for (;;) {
    const ssize_t n = ::pread(fd, buffer, sizeof buffer, offset);
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
    offset += n;
  }
  ::close(fd);
  return text;
}

// Ours, with these changes: "NAME=VALUE" sets one, "NAME" takes it away.
std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::map<std::string, std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries[name_of(*entry)] = *entry;
  for (const std::string& change : changes) {
    if (change.find('=') == std::string::npos) {
      entries.erase(change);
    } else {
      entries[name_of(change)] = change;
    }
  }
  std::vector<std::string> environment;
  for (const auto& entry : entries) environment.push_back(entry.second);
  return environment;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void run_child(char* const* arguments, char** environment, const char* directory,
                            int out, int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (*directory != '\0' && ::chdir(directory) != 0) ::_exit(126);
  environ = environment;
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

// The status of waitpid, or -1.
int wait_for(pid_t pid, unsigned timeout_s) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(timeout_s);
  auto pause = std::chrono::microseconds(500);
  int status = 0;
  for (;;) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return -1;
    if (Clock::now() > end) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(20)) pause *= 2;
  }
}

}  // namespace

RunningProcess::RunningProcess(const std::vector<std::string>& arguments,
                               const ProcessOptions& options)
    : out_(::memfd_create("stdout", MFD_CLOEXEC)),
      err_(::memfd_create("stderr", MFD_CLOEXEC)),
      timeout_s_(options.timeout_s) {
  if (out_ < 0 || err_ < 0) return;
  const std::vector<std::string> environment = changed_environment(options.environment);
  const std::vector<char*> argv = pointers_to(arguments);
  std::vector<char*> envp = pointers_to(environment);
  pid_ = ::fork();
  if (pid_ == 0) run_child(argv.data(), envp.data(), options.directory.c_str(), out_, err_);
}

RunningProcess::~RunningProcess() {
  send(SIGKILL);
  (void)wait();
}

void RunningProcess::send(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

bool RunningProcess::is_in_state(int state) const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, state | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

bool RunningProcess::has_ended() const { return pid_ <= 0 || is_in_state(WEXITED); }

bool RunningProcess::is_stopped() const { return pid_ > 0 && is_in_state(WSTOPPED); }

ProcessResult RunningProcess::wait() {
  ProcessResult result;
  const int status = pid_ > 0 ? wait_for(pid_, timeout_s_) : -1;
  pid_ = -1;
  if (status != -1) {
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + result.signal;
  }
  result.out = take_output(&out_);
  result.err = take_output(&err_);
  return result;
}

ProcessResult run_process(const std::vector<std::string>& arguments,
                          const ProcessOptions& options) {
  return RunningProcess(arguments, options).wait();
}

std::string program_folder() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return ".";
  const std::string whole(path, static_cast<size_t>(n));
  return whole.substr(0, whole.rfind('/'));
}

bool have_program(const std::string& name) {
  return run_process({"sh", "-c", "command -v \"$0\" >/dev/null", name}).exit_code == 0;
}

}  // namespace hipfile::test
