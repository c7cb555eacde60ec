// SPDX-License-Identifier: MIT
//
// The program inherits a socket, named by HIPFILE_STATS_SOCKET, over which each of its processes
// sends its counters when it begins to count.
#include "launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "util/process_end.h"
#include "util/stats_socket.h"
#include "util/unique_fd.h"
#include "watch.h"

namespace ais_stats {
namespace {

using hipfile::UniqueFd;
using hipfile::stats::View;

constexpr int kHighFd = 200;  // out of the way of programs that expect the low numbers

struct Channel {
  UniqueFd ours;
  UniqueFd theirs;  // inherited over exec
};

bool open_channel(Channel* channel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  channel->ours = UniqueFd(ends[0]);
  const UniqueFd low(ends[1]);
  int high = fcntl(low.get(), F_DUPFD, kHighFd);
  if (high < 0) high = fcntl(low.get(), F_DUPFD, 3);  // a low RLIMIT_NOFILE
  channel->theirs = UniqueFd(high);
  return high >= 0;
}

// In the child. Only returns to end it; `report` is closed by a successful exec.
[[noreturn]] void run_program(const Options& options, int socket, int report) {
  for (const int number : {SIGINT, SIGQUIT}) signal(number, SIG_DFL);
  setenv(hipfile::stats::kSocketVariable, std::to_string(socket).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : options.program) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

// The number of the new process; -1 after a complaint.
pid_t start(const Options& options, const Channel& channel) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    complain(std::string("cannot make a pipe: ") + std::strerror(errno));
    return -1;
  }
  const UniqueFd read_end(report[0]);
  UniqueFd write_end(report[1]);
  const pid_t pid = fork();
  if (pid == 0) run_program(options, channel.theirs.get(), write_end.get());
  write_end = UniqueFd();
  if (pid < 0) {
    complain(std::string("cannot fork: ") + std::strerror(errno));
    return -1;
  }
  int error = 0;
  if (read(read_end.get(), &error, sizeof error) != sizeof error) return pid;
  waitpid(pid, nullptr, 0);
  complain("cannot run '" + options.program[0] + "': " + std::strerror(error));
  return -1;
}

void take_offers(int socket, Views* views) {
  for (;;) {
    const UniqueFd fd(hipfile::stats::receive_offered(socket));
    if (!fd) return;
    View::Failure failure = View::Failure::kNone;
    if (auto view = View::map(fd.get(), &failure)) views->push_back(std::move(view));
  }
}

}  // namespace

int launch(const Options& options) {
  Channel channel;
  if (!open_channel(&channel)) {
    complain(std::string("cannot make a socket: ") + std::strerror(errno));
    return kExitFailure;
  }
  for (const int number : {SIGINT, SIGQUIT}) signal(number, SIG_IGN);  // they are for the program
  const pid_t pid = start(options, channel);
  if (pid < 0) return kExitFailure;

  const hipfile::ProcessEnd end(pid);
  Views views;
  Watch watch(options.watch_s);
  while (!end.wait(watch.timeout_ms(), channel.ours.get())) {
    take_offers(channel.ours.get(), &views);
    watch.look(views);
  }
  waitpid(pid, nullptr, 0);
  take_offers(channel.ours.get(), &views);
  if (views.empty()) {
    complain("the program has not used hipFile, or counts nothing");
    return kExitFailure;
  }
  if (print_reports(views)) return 0;
  complain("the report cannot be written");
  return kExitFailure;
}

}  // namespace ais_stats
