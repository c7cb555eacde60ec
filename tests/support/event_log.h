// SPDX-License-Identifier: MIT
// The order of events across threads and libraries of one process: a file named by
// HIPFILE_TEST_EVENTS to which each event is appended by one write(2), so that the order of its
// lines is an order in which the events happened.
//
//   read-begin OFFSET SIZE THREAD VIEW | read-end … | write-begin … | write-end …
//
// VIEW is "direct" or "cache" by the descriptor's O_DIRECT, "-" where there is no descriptor.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace hipfile::test {

class EventLog {
 public:
  EventLog() {
    const char* path = std::getenv("HIPFILE_TEST_EVENTS");
    if (path != nullptr) fd_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }

  void add(const char* what, int64_t offset, uint64_t size, const char* view = "-") {
    if (fd_ < 0) return;
    char line[128];
    const int n =
        std::snprintf(line, sizeof line, "%s %lld %llu %d %s\n", what,
                      static_cast<long long>(offset), static_cast<unsigned long long>(size),
                      static_cast<int>(::gettid()), view);
    if (::write(fd_, line, static_cast<size_t>(n)) != n) std::abort();
  }

 private:
  int fd_ = -1;
};

// A line of the log.
struct Event {
  std::string what;
  uint64_t offset = 0;
  uint64_t size = 0;
  int thread = 0;
  std::string view;

  uint64_t end() const { return offset + size; }
};

inline std::vector<Event> read_events(const std::string& path) {
  std::vector<Event> events;
  std::ifstream file(path);
  Event event;
  while (file >> event.what >> event.offset >> event.size >> event.thread >> event.view) {
    events.push_back(event);
  }
  return events;
}

}  // namespace hipfile::test
