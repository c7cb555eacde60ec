// SPDX-License-Identifier: MIT
// Rules 21 and 25: the order of the parts of a request, seen from the positioned reads and writes
// that the process makes. This program is linked with the trace, which stands in front of libc's.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "apart.h"
#include "event_log.h"
#include "page_cache.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = (9 << 20) + 1234;
constexpr hoff_t kOffset = 512;  // on the alignment of the disk, off that of the file system

using SplitParam = std::tuple<MemoryKind, bool>;  // memory; only the ring

class SplitTest : public ApartTest, public testing::WithParamInterface<SplitParam> {
 protected:
  static MemoryKind kind() { return std::get<0>(GetParam()); }

  // What a process of its own does with a registered file, call by call.
  template <typename Body>
  std::vector<Event> traced(int direct, Body body) {
    const std::string log = file("events");
    write_file(file("f"), make_pattern(kSize + 8192, 1));
    EXPECT_EQ(0, run_apart([&] {
                ::setenv("HIPFILE_ENGINE", "threads", 1);  // what io_uring does is not seen
                if (std::get<1>(GetParam())) ::setenv("HIPFILE_FORCE_COMPAT_MODE", "true", 1);
                const Fd fd(file("f"), O_RDWR | direct);
                const hipFileHandle_t handle = register_fd(fd.get());
                write_alignment_ = info_of(handle).write_alignment;
                Buffer buffer(kSize + 8192, kind());
                drop_cache(fd.get());
                buffer.set(make_pattern(kSize, 2));
                ::setenv("HIPFILE_TEST_EVENTS", log.c_str(), 1);
                body(handle, buffer);
              }));
    const std::vector<Event> events = read_events(log);
    EXPECT_FALSE(events.empty()) << "nothing was traced";
    ::unlink(log.c_str());
    return events;
  }

  std::vector<Event> traced_write(int direct) {
    return traced(direct, [](hipFileHandle_t handle, const Buffer& buffer) {
      EXPECT_EQ(static_cast<ssize_t>(kSize),
                hipFileWrite(handle, buffer.data(), kSize, kOffset, 0));
    });
  }

  size_t write_alignment_ = 4096;
};

bool begins(const Event& event) { return event.what.find("-begin") != std::string::npos; }

// An edge goes through the cache, alone; chunks of the direct middle go side by side.
TEST_P(SplitTest, Rule21_PartsAreNeverInFlightTogether) {
  const int direct = direct_flag_of(dir_.path());
  for (const bool is_write : {true, false}) {
    const std::vector<Event> events =
        is_write ? traced_write(direct)
                 : traced(direct, [](hipFileHandle_t handle, const Buffer& buffer) {
                     // Off every alignment, and at an address that fits the offset.
                     EXPECT_EQ(static_cast<ssize_t>(kSize - 3),
                               hipFileRead(handle, buffer.data(), kSize - 3, kOffset + 3,
                                           4096 + kOffset + 3));
                   });
    int direct_parts = 0, edges = 0;
    for (const Event& event : events) {
      const bool is_direct = event.view == "direct";
      (is_direct ? direct_parts : edges) += begins(event) ? 1 : -1;
      EXPECT_TRUE(edges == 0 || (edges == 1 && direct_parts == 0))
          << direct_parts << " direct and " << edges << " cached in flight at " << event.what << " "
          << event.offset;
    }
  }
}

TEST_P(SplitTest, Rule21_DirectWritesAreWholeBlocks) {
  size_t direct_bytes = 0, all_bytes = 0;
  for (const Event& event : traced_write(direct_flag_of(dir_.path()))) {
    if (event.what != "write-begin") continue;
    all_bytes += event.size;
    if (event.view != "direct") continue;
    direct_bytes += event.size;
    EXPECT_EQ(0u, event.offset % std::max<size_t>(write_alignment_, 4096)) << event.offset;
    EXPECT_EQ(0u, event.size % std::max<size_t>(write_alignment_, 4096)) << event.size;
  }
  EXPECT_EQ(kSize, all_bytes);
  EXPECT_LE(kSize - 2 * 4096, direct_bytes);
}

TEST_P(SplitTest, Rule25_BufferedWritesOfARequestFollowOneAnother) {
  int in_flight = 0, cached = 0;
  for (const Event& event : traced_write(0)) {
    if (event.view != "cache" || event.what.find("write") != 0) continue;
    in_flight += begins(event) ? 1 : -1;
    cached += begins(event) ? 1 : 0;
    EXPECT_LE(in_flight, 1) << event.offset;
  }
  EXPECT_LE(1, cached);
}

// Each with a descriptor of its own; what is up to 64 KiB is written by its caller at once.
TEST_P(SplitTest, Rule25_BufferedWritesOfCallersTakeTurns) {
  constexpr size_t kPart = 2 << 20;
  const std::vector<Event> events = traced(0, [this](hipFileHandle_t, const Buffer& buffer) {
    std::vector<std::thread> callers;
    for (size_t number = 0; number < 4; ++number) {
      callers.emplace_back([&, number] {
        const Fd fd(file("f"), O_RDWR);
        const hipFileHandle_t handle = register_fd(fd.get());
        const auto at = static_cast<hoff_t>(number * kPart);
        EXPECT_EQ(static_cast<ssize_t>(kPart),
                  hipFileWrite(handle, buffer.data(), kPart, kOffset + at, at));
        hipFileHandleDeregister(handle);
      });
    }
    for (std::thread& caller : callers) caller.join();
  });
  int in_flight = 0;
  for (const Event& event : events) {
    if (event.view != "cache" || event.what.find("write") != 0 || event.size <= 64 << 10) continue;
    in_flight += begins(event) ? 1 : -1;
    EXPECT_LE(in_flight, 1) << event.offset;
  }
}

std::string split_name(const testing::TestParamInfo<SplitParam>& info) {
  return std::string(memory_kind_name(std::get<0>(info.param))) +
         (std::get<1>(info.param) ? "ThroughTheRing" : "");
}
INSTANTIATE_TEST_SUITE_P(, SplitTest,
                         testing::Values(SplitParam{MemoryKind::kDevice, false},
                                         SplitParam{MemoryKind::kDevice, true},
                                         SplitParam{MemoryKind::kPinned, false}),
                         split_name);

}  // namespace
}  // namespace hipfile::test
