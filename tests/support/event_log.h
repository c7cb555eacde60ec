// SPDX-License-Identifier: MIT
// The order of events across threads and libraries of one process: a file named by
// HIPFILE_TEST_EVENTS to which each event is appended by one write(2), so that the order of its
// lines is an order in which the events happened.
//
//   read-begin OFFSET SIZE | read-end OFFSET SIZE | write-begin … | write-end …
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hipfile::test {

class EventLog {
 public:
  EventLog() {
    const char* path = std::getenv("HIPFILE_TEST_EVENTS");
    if (path != nullptr) fd_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }

  void add(const char* what, int64_t offset, uint64_t size) {
    if (fd_ < 0) return;
    char line[96];
    const int n =
        std::snprintf(line, sizeof line, "%s %lld %llu\n", what, static_cast<long long>(offset),
                      static_cast<unsigned long long>(size));
    if (::write(fd_, line, static_cast<size_t>(n)) != n) std::abort();
  }

 private:
  int fd_ = -1;
};

}  // namespace hipfile::test
