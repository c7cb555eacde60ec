// SPDX-License-Identifier: MIT
//
// The choice of the engines, by trying them.
#include <algorithm>
#include <cerrno>

#include "engine/threads.h"
#include "engine/uring.h"
#include "util/cpu_limits.h"
#include "util/env.h"
#include "util/log.h"

namespace hipfile {
namespace {

// Eight readers of cached pages fill a PCIe 5 x16 link; more only burn processor time.
constexpr unsigned kMaxIoThreads = 8;

std::string reason_of(int error) {
  switch (error) {
    case ENOSYS:
      return "the kernel has no io_uring";
    case EPERM:
    case EACCES:
      return "io_uring is forbidden here (seccomp or kernel.io_uring_disabled)";
    case ENOMEM:
      return "io_uring finds no memory (RLIMIT_MEMLOCK)";
    case EMFILE:
    case ENFILE:
      return "io_uring finds no descriptor";
    case ENOTSUP:
      return "this library was built without io_uring";
    default:
      return "io_uring failed with errno " + std::to_string(error);
  }
}

}  // namespace

void EngineChoice::limit_threads(unsigned most) const {
  const unsigned usable = usable_cpus();
  const unsigned limit = std::min(most == 0 ? kMaxIoThreads : most, usable);
  pool->limit_threads(limit);
  stream_pool->limit_threads(limit);
}

EngineChoice choose_engines() {
  EngineChoice choice;
  choice.pool = new ThreadPool(std::min(kMaxIoThreads, usable_cpus()));
  choice.stream_pool = new ThreadPool(std::min(kMaxIoThreads, usable_cpus()));
  choice.turns = new FileTurns(*choice.pool);
  choice.threads = make_threads_engine(*choice.pool);
  const std::string wish = env_string("HIPFILE_ENGINE");
  const bool is_known = wish.empty() || wish == "uring" || wish == "threads";
  if (!is_known) log_error("HIPFILE_ENGINE='%s' is neither uring nor threads", wish.c_str());
  if (wish == "threads") {
    choice.reason = "threads: HIPFILE_ENGINE";
    return choice;
  }
  choice.is_uring_forced = wish == "uring";
  if (const int error = probe_uring()) {
    choice.reason = "threads: " + reason_of(error);
    if (choice.is_uring_forced) log_error("HIPFILE_ENGINE=uring: %s", choice.reason.c_str());
  } else {
    choice.uring = make_uring_engine();
    choice.reason = choice.is_uring_forced ? "uring: HIPFILE_ENGINE" : "uring: it works here";
  }
  log_info("engine %s", choice.reason.c_str());
  return choice;
}

}  // namespace hipfile
